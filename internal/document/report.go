package document

import (
	"fmt"
	"strconv"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/schema"
)

// maxPointer bounds what a problem says of its place: with keys of megabytes, the
// pointers alone would be larger than the document.
const maxPointer = 1 << 10

// report follows a parser through the tree: it keeps the limits, the place and
// the problems.
type report struct {
	nodes    int
	path     []token
	problems schema.Problems
	found    int
}

// token is a key, or an index: a string for each would be an allocation a node.
type token struct {
	key   string
	index int // -1 for a key
}

func keyToken(key string) token { return token{key: key, index: -1} }

func (r *report) enter(at token) { r.path = append(r.path, at) }
func (r *report) leave()         { r.path = r.path[:len(r.path)-1] }

// count is called for each value; at is evaluated for errors alone.
func (r *report) count(at func() position) error {
	if r.nodes++; r.nodes > value.DefaultLimits.Nodes {
		return tooLarge("%s: more than the limit of %d values; send less", at(), value.DefaultLimits.Nodes)
	}
	return nil
}

// nest is called for each list and object.
func (r *report) nest(at func() position) error {
	if limit := value.DefaultLimits.Depth; len(r.path) >= limit {
		return tooLarge("%s: nested deeper than the limit of %d levels; make it flatter", at(), limit)
	}
	return nil
}

// add records what is wrong at the current place; the positions of problems that
// are not kept are not looked for, which would take quadratic time.
func (r *report) add(at func() position, format string, args ...any) {
	if r.found++; r.found > schema.MaxProblems {
		return
	}
	pointer := ""
	for _, token := range r.path {
		text := token.key
		if token.index >= 0 {
			text = strconv.Itoa(token.index)
		}
		if len(pointer)+len(text) > maxPointer {
			break
		}
		pointer += schema.Pointer(text)
	}
	r.problems.Add(pointer, "%s", at().String()+": "+fmt.Sprintf(format, args...))
}

// twice records a key given again.
func (r *report) twice(key string, at, first func() position) {
	if r.found >= schema.MaxProblems {
		r.found++
		return
	}
	r.enter(keyToken(key))
	r.add(at, "a key given twice, first at %s; keep one", first())
	r.leave()
}

func (r *report) err() error {
	if r.found == 0 {
		return nil
	}
	problems := r.problems.Sorted()
	if more := r.found - len(r.problems); more > 0 {
		problems.Add("", "and %d more problems", more)
	}
	return &fault.Error{Kind: fault.Invalid, Subject: subject, Problems: problems}
}
