package expression

import (
	"fmt"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/wording"
	"github.com/kargo-steps/publish-metadata/schema"
)

type problem = schema.Problem

const (
	maxExcerpt = 160   // runes of an expression that an error shows
	maxListed  = 20    // aliases that an error lists
	maxAliases = 1_000 // aliases among which an error looks for the nearest
)

// Error is an expression that cannot be compiled or evaluated.
type Error struct {
	// Expression is the whole source.
	Expression string
	// Line and Column are where, both from 1; columns count characters.
	Line, Column int
	// Message says what is wrong and what to do, without the expression.
	Message string
	// Problems are the places of the result that JSON cannot hold, if that is it.
	Problems schema.Problems
	// Kind is Invalid, TooLarge (a limit) or Timeout (the context ended).
	Kind fault.Kind
	// Err is the context's error for Timeout, else nil.
	Err error
}

// Error returns the expression, the place and what is wrong.
func (e *Error) Error() string {
	text := where(e.Expression, e.Line, e.Column) + ": " + e.Message
	if len(e.Problems) > 0 {
		text += ": " + e.Problems.Sorted().Error()
	}
	return text
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// Missing is an expression that needs something that is not there: its result is
// nil, or it reads a member of nil.
type Missing struct {
	// Expression is the whole source.
	Expression string
	// Line and Column are where, both from 1; columns count characters.
	Line, Column int
	// Part is the piece of the expression that is nil, such as "outputs.open.pr".
	Part string
	// Available are the aliases that have an output, sorted: those of the task
	// if Part begins with task. nil for more than 1,000.
	Available []string
	// Hint says what may be meant, or is "".
	Hint string
	// listed says that Part hangs on an alias that Available lacks.
	listed bool
}

// whole names the part by the source if it cannot be named otherwise.
func (e *Missing) whole() *Missing {
	if e.Part == unnamed {
		e.Part = shortened(strings.Join(strings.Fields(e.Expression), " "))
	}
	return e
}

// Error returns the expression, the place, the part and the aliases that exist.
func (e *Missing) Error() string {
	text := where(e.Expression, e.Line, e.Column) + ": " + e.Part + " is missing (null)"
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	if e.listed && len(e.Available) > 0 {
		text = wording.Also(text, listing(e.Available))
	}
	return text
}

// Unwrap returns the kind: nothing but another request helps.
func (e *Missing) Unwrap() error { return fault.Invalid }

func listing(aliases []string) string {
	if len(aliases) == 0 {
		return "no step has an output"
	}
	return "steps with an output: " + wording.List(aliases, maxListed)
}

// where names an expression by the line at fault and the place.
func where(expression string, line, column int) string {
	lines := strings.Split(expression, "\n")
	excerpt := []rune(strings.TrimRight(lines[min(line, len(lines))-1], " \r"))
	begin := max(0, min(column-maxExcerpt/2, len(excerpt)-maxExcerpt))
	end := min(len(excerpt), begin+maxExcerpt)
	text := string(excerpt[begin:end])
	if begin == 0 {
		text = strings.TrimLeft(text, " \t")
	} else {
		text = "…" + text
	}
	if end < len(excerpt) {
		text += "…"
	}
	return fmt.Sprintf("expression `%s` at %d:%d", text, line, column)
}
