package schema

import (
	"cmp"
	"fmt"
	"regexp"
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
// characters in its names is quoted. Of long names, which may be hostile, only
// the ends are shown.
func (p Problem) String() string {
	const mostPointer, mostMessage = 512, 1024
	pointer, message := ends(p.Pointer, mostPointer), ends(p.Message, mostMessage)
	switch {
	case pointer == "":
		return message
	case strings.ContainsFunc(pointer, unicode.IsControl):
		return strconv.Quote(pointer) + ": " + message
	default:
		return pointer + ": " + message
	}
}

// ends returns a text of about most bytes: what is in the middle of a longer one
// is left out.
func ends(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2], "") + "…" + strings.ToValidUTF8(text[len(text)-most/2:], "")
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

// moreProblems is the message that counts what is left out.
var moreProblems = regexp.MustCompile(`^and (\d{1,9}) more problems$`)

// Sorted returns the problems ordered by pointer, each once, at most MaxProblems
// of them; a last one without a pointer counts those left out, here or when
// problems among these were sorted or collected.
func (p Problems) Sorted() Problems {
	more := 0
	sorted := slices.DeleteFunc(slices.Clone(p), func(problem Problem) bool {
		counted := moreProblems.FindStringSubmatch(problem.Message)
		if counted != nil {
			count, _ := strconv.Atoi(counted[1])
			more += count
		}
		return counted != nil
	})
	slices.SortFunc(sorted, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Pointer, b.Pointer), strings.Compare(a.Message, b.Message))
	})
	sorted = slices.Compact(sorted)
	if left := len(sorted) - MaxProblems; left > 0 {
		sorted, more = sorted[:MaxProblems:MaxProblems], more+left
	}
	if more > 0 {
		sorted = append(sorted, Problem{Message: fmt.Sprintf("and %d more problems", more)})
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
