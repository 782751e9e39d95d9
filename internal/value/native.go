package value

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"unicode/utf8"

	"github.com/kargo-steps/publish-metadata/schema"
)

// Limits bounds the tree, not the graph: a shared subtree counts each time it is
// reached. A limit of 0 or less is that of DefaultLimits.
type Limits struct {
	// Nodes is how many values there are, lists and objects included.
	Nodes int
	// Bytes is how many bytes strings, keys and number literals have together.
	Bytes int
	// Depth is how many lists and objects are around a value.
	Depth int
}

// DefaultLimits are the limits of a request.
var DefaultLimits = Limits{Nodes: 200_000, Bytes: 10 << 20, Depth: 64}

// What is kept of the problems of one tree: with keys of megabytes, the pointers
// alone would be larger than the tree.
const (
	maxPointer  = 1 << 10
	maxProblems = 20 * schema.MaxProblems
)

// Native returns v as a JSON-native tree. What is native already is not copied;
// v itself is never changed. Go numbers, json.Number, slices, arrays, maps with
// string keys, named strings and bools, and pointers to these are converted; a
// nil slice or map becomes an empty one, a nil pointer nil. All else (structs,
// funcs, bytes, numbers that are not finite or that an int64 cannot hold, strings
// that are not UTF-8) is a problem with its pointer under base, and nil in the tree; a
// key that is not UTF-8 is left out.
// The pointer of a place with very long keys is that of the nearest ancestor
// with a short one. When v exceeds a limit, the tree is nil and the only problem,
// at base, says which limit.
func Native(v any, base string, limits Limits) (any, schema.Problems) {
	w := &walker{base: base, limits: limits.orDefault()}
	tree, _, err := w.walk(v)
	if err != nil {
		return nil, schema.Problems{{Pointer: base, Message: err.Error()}}
	}
	if more := w.found - len(w.problems); more > 0 {
		w.problems.Add(base, "and %d more problems", more)
	}
	return tree, w.problems
}

func (l Limits) orDefault() Limits {
	if l.Nodes <= 0 {
		l.Nodes = DefaultLimits.Nodes
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultLimits.Bytes
	}
	if l.Depth <= 0 {
		l.Depth = DefaultLimits.Depth
	}
	return l
}

// walker counts a tree and converts it. Its errors are exceeded limits, which
// end the walk; problems do not.
type walker struct {
	base         string
	limits       Limits
	nodes, bytes int
	path         []step
	problems     schema.Problems
	found        int
}

// step is a key, or an index: a string for each would be an allocation a node.
type step struct {
	key   string
	index int // -1 for a key
}

func (s step) token() string {
	if s.index >= 0 {
		return strconv.Itoa(s.index)
	}
	return s.key
}

func (w *walker) pointer() string {
	pointer := w.base
	for _, step := range w.path {
		token := step.token()
		if len(pointer)-len(w.base)+len(token) > maxPointer {
			break
		}
		pointer += schema.Pointer(token)
	}
	return pointer
}

// problem records what is wrong at the current place, whose value becomes nil.
func (w *walker) problem(format string, args ...any) (any, bool, error) {
	if w.found++; w.found <= maxProblems {
		w.problems.Add(w.pointer(), format, args...)
	}
	return nil, true, nil
}

func (w *walker) addBytes(count int) error {
	if w.bytes += count; w.bytes > w.limits.Bytes {
		return fmt.Errorf("exceeds the limit of %d bytes of strings and keys", w.limits.Bytes)
	}
	return nil
}

// enter checks a list or object of size children before anything is allocated for it.
func (w *walker) enter(size int) error {
	if len(w.path) >= w.limits.Depth {
		return w.tooDeep()
	}
	if w.nodes+size > w.limits.Nodes {
		return w.tooMany()
	}
	return nil
}

func (w *walker) tooDeep() error {
	return fmt.Errorf("exceeds the limit of depth %d (nested lists and objects)", w.limits.Depth)
}

func (w *walker) tooMany() error {
	return fmt.Errorf("exceeds the limit of %d nodes (values)", w.limits.Nodes)
}

func (w *walker) child(at step, v any) (any, bool, error) {
	w.path = append(w.path, at)
	converted, changed, err := w.walk(v)
	w.path = w.path[:len(w.path)-1]
	return converted, changed, err
}

// walk returns the native form of v and whether it is another value than v.
func (w *walker) walk(v any) (any, bool, error) {
	if w.nodes++; w.nodes > w.limits.Nodes {
		return nil, false, w.tooMany()
	}
	switch v := v.(type) {
	case nil, bool, int64:
		return v, false, nil
	case string:
		return w.text(v, false)
	case float64:
		return w.float(v)
	case json.Number:
		return w.number(v)
	case []any:
		return w.list(v)
	case map[string]any:
		return w.object(v)
	}
	return w.reflected(reflect.ValueOf(v))
}

func (w *walker) text(text string, changed bool) (any, bool, error) {
	if err := w.addBytes(len(text)); err != nil {
		return nil, false, err
	}
	if !utf8.ValidString(text) {
		return w.problem("not valid UTF-8; encode bytes as base64")
	}
	return text, changed, nil
}

func (w *walker) float(float float64) (any, bool, error) {
	number, err := fromFloat(float)
	if err != nil {
		return w.problem("%s", err)
	}
	_, integral := number.(int64)
	return number, integral, nil
}

func (w *walker) number(literal json.Number) (any, bool, error) {
	if err := w.addBytes(len(literal)); err != nil {
		return nil, false, err
	}
	number, err := Number(string(literal))
	if err != nil {
		return w.problem("%s", err)
	}
	return number, true, nil
}
