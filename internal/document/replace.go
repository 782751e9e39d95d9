package document

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Edit sets the value at a path of keys, creating the objects on the way, or
// removes it when Value is nil. Value has to be JSON-native.
type Edit struct {
	Path  []string
	Value any
}

// Replace returns data, one JSON or YAML document, after edits, in their order.
// Removing the last member of an object leaves an empty object; removing what is
// not there changes nothing.
//
// In YAML every line but those of members that differ stays byte for byte:
// comments, blank lines, quotes and order. A member is the smallest block-style
// one that holds the difference: a list or flow-style object is written anew as a
// whole, without the comments inside it, in the document's indentation; a new
// member goes to the end of its object. Strings that a YAML 1.1 or 1.2 reader
// would take for something else are quoted. A document whose root is in flow style
// is written anew in block style. JSON is written anew too, indented by two spaces, with
// sorted keys and without HTML escaping.
//
// The error is Parse's, or Invalid for an empty path, a path through a list or
// scalar, a value that is not JSON-native, or a layout that cannot be edited in place.
func Replace(data []byte, edits ...Edit) ([]byte, error) {
	before, err := Parse(data)
	if err != nil {
		return nil, err
	}
	after := before
	for _, edit := range edits {
		if len(edit.Path) == 0 || !utf8.ValidString(strings.Join(edit.Path, "")) {
			return nil, invalid("an edit without a path, or with one that is not UTF-8; give the keys that lead to the value")
		}
		native, problems := value.Native(edit.Value, schema.Pointer(edit.Path...), value.Limits{})
		if len(problems) > 0 {
			return nil, invalid("%s", problems.Sorted())
		}
		if after, err = edited(after, edit.Path, 0, native); err != nil {
			return nil, err
		}
	}
	switch {
	case tree.Equal(before, after):
		return data, nil
	case isJSON(data):
		return writeJSON(after)
	}
	return replaceYAML(data, before, after)
}

// edited returns tree with the value at path, copying the objects on the way. A
// nil object is one that does not exist.
func edited(tree any, path []string, done int, v any) (any, error) {
	if done == len(path) {
		return v, nil
	}
	object, ok := tree.(map[string]any)
	if !ok && tree != nil {
		return nil, invalid("%s: not an object, so nothing can be set or removed inside it", place(path[:done]))
	}
	member, exists := object[path[done]]
	if v == nil && !exists {
		return tree, nil
	}
	changed, err := edited(member, path, done+1, v)
	if err != nil {
		return nil, err
	}
	object = maps.Clone(object)
	if object == nil {
		object = map[string]any{}
	}
	if changed == nil && done == len(path)-1 {
		delete(object, path[done])
	} else {
		object[path[done]] = changed
	}
	return object, nil
}

func place(path []string) string {
	if len(path) == 0 {
		return "the root"
	}
	return schema.Pointer(path...)
}

func writeJSON(tree any) ([]byte, error) {
	compact, err := value.Marshal(tree)
	if err != nil {
		return nil, invalid("%s", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, invalid("%s", err)
	}
	return append(out.Bytes(), '\n'), nil
}
