package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// bounds is what a tree may measure before anything looks into it. The tree is
// counted as written out: a part that is shared counts each time.
type bounds struct {
	what     string
	nodes    int
	depth    int
	bytes    int // of keys and strings
	pointer  int // bytes of one JSON Pointer
	pointers int // bytes of the JSON Pointers of all nodes
}

// Third parties' schemas are small; the library holds a JSON Pointer or two for
// each part of one, so that their sum has to be bounded as well.
var (
	schemaBounds   = bounds{"schema", 10_000, 32, 64 << 10, 4 << 10, 2 << 20}
	instanceBounds = bounds{"value", 50_000, 32, 1 << 20, 4 << 10, 8 << 20}
)

// measure is what a tree was found to be.
type measure struct {
	nodes, depth, bytes, pointers int
}

// check returns the measures of v, or the one problem that makes it
// unacceptable: too large, too deep, or not JSON-native.
func (b bounds) check(v any) (measure, Problems) {
	var m measure
	if pointer, message := b.walk(v, &m, nil, 0); message != "" {
		return m, Problems{{Pointer: pointer, Message: message}}
	}
	return m, nil
}

func (b bounds) walk(v any, m *measure, path []string, pointer int) (string, string) {
	m.nodes++
	m.depth = max(m.depth, len(path)+1)
	m.pointers += pointer
	if len(path) >= b.depth {
		return "", fmt.Sprintf("the %s is nested more than %d deep", b.what, b.depth)
	}
	switch v := v.(type) {
	case nil, bool, int64:
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Pointer(path...), "is not a finite number"
		}
	case string:
		m.bytes += len(v)
	case []any:
		for i, item := range v {
			index := strconv.Itoa(i)
			if at, message := b.walk(item, m, append(path, index), pointer+1+len(index)); message != "" {
				return at, message
			}
		}
	case map[string]any:
		if message := b.exceeded(m, pointer); message != "" {
			return "", message
		}
		return b.walkObject(v, m, path, pointer)
	default:
		return Pointer(path...), "is not a JSON value"
	}
	return "", b.exceeded(m, pointer)
}

func (b bounds) walkObject(object map[string]any, m *measure, path []string, pointer int) (string, string) {
	// The first wrong member in order is reported, unless the tree is too large
	// to be ordered at all.
	foundAt, found := "", ""
	for key, member := range object {
		m.bytes += len(key)
		at, message := b.walk(member, m, append(path, key), pointer+len(key)+1)
		if message == "" {
			continue
		}
		if at == "" {
			return at, message
		}
		if found == "" || at < foundAt {
			foundAt, found = at, message
		}
	}
	return foundAt, found
}

// exceeded returns what is too much of the tree so far, or "".
func (b bounds) exceeded(m *measure, pointer int) string {
	switch {
	case m.nodes > b.nodes:
		return fmt.Sprintf("the %s has more than %d parts", b.what, b.nodes)
	case m.bytes > b.bytes:
		return fmt.Sprintf("the %s has more than %d bytes of text", b.what, b.bytes)
	case pointer > b.pointer, m.pointers > b.pointers:
		return fmt.Sprintf("the %s has names that are too long, or too many parts below long names", b.what)
	}
	return ""
}

// copyTree returns a deep copy of a bounded JSON-native tree.
func copyTree(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = copyTree(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, member := range v {
			object[key] = copyTree(member)
		}
		return object
	default:
		return v
	}
}

// encode returns the JSON of a bounded JSON-native tree: sorted keys, no HTML
// escapes, no final newline.
func encode(v any) []byte {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	// A tree that passed bounds.check always encodes.
	_ = encoder.Encode(v)
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))
}
