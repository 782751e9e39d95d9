// Package value holds JSON-native trees: the one form in which data passes
// from stage to stage.
//
// In: any Go value, such as a step's output, the result of an expression or a
// number literal. Out: a tree of nil, bool, string, int64, float64, []any and
// map[string]any and nothing else, within limits, and its JSON; package tree
// below has what needs neither.
package value
