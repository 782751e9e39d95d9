package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// MaxProblems is how many problems one report lists; the rest are counted.
const MaxProblems = 50

// Problem says what is wrong at one place of a document. It names keys,
// entries and fields, but never quotes a scalar value, which may be a credential.
type Problem struct {
	// Pointer is the place, a JSON Pointer (RFC 6901); "" is the whole document.
	Pointer string `json:"pointer"`
	// Message says what is wrong and what to do, without the place.
	Message string `json:"message"`
}

// String returns "pointer: message" on one line; a pointer with control
// characters in its names is quoted.
func (p Problem) String() string {
	switch {
	case p.Pointer == "":
		return p.Message
	case strings.ContainsFunc(p.Pointer, unicode.IsControl):
		return strconv.Quote(p.Pointer) + ": " + p.Message
	default:
		return p.Pointer + ": " + p.Message
	}
}

// Problems is everything wrong with one document.
type Problems []Problem

// Add appends a problem with a formatted message.
func (p *Problems) Add(pointer, format string, args ...any) {
	*p = append(*p, Problem{Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

// Under returns the problems with base before each pointer.
func (p Problems) Under(base string) Problems {
	moved := make(Problems, len(p))
	for i, problem := range p {
		moved[i] = Problem{Pointer: base + problem.Pointer, Message: problem.Message}
	}
	return moved
}

// Sorted returns the problems ordered by pointer, each once, at most MaxProblems
// of them; a last one without a pointer counts those left out.
func (p Problems) Sorted() Problems {
	sorted := slices.Clone(p)
	slices.SortFunc(sorted, func(a, b Problem) int {
		if order := strings.Compare(a.Pointer, b.Pointer); order != 0 {
			return order
		}
		return strings.Compare(a.Message, b.Message)
	})
	sorted = slices.Compact(sorted)
	if more := len(sorted) - MaxProblems; more > 0 {
		sorted = append(sorted[:MaxProblems:MaxProblems], Problem{Message: fmt.Sprintf("and %d more problems", more)})
	}
	return sorted
}

// Error returns the problems, "; " between them.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "; ")
}
