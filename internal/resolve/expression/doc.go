// Package expression evaluates one expr-lang expression over a promotion's
// context and outputs, contained.
//
// In: the expression's source and the data it may read. Out: a JSON-native
// value within limits, or a *Missing (something that is not there) or an *Error
// (anything else), neither of which quotes a scalar of the data.
//
// The language is expr's: its parser, its compiler and its virtual machine run
// the expression. In between, the syntax tree is rewritten so that whatever can
// grow, walk or fail goes through a function of this package, which charges
// one budget a run before it does the work.
package expression
