package document

import (
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// maxSimpleKey bounds a key that stands before its colon: YAML 1.2, section 7.4.3,
// lets readers look no further than 1024 characters for the colon.
const maxSimpleKey = 1000

// EncodeYAML returns a JSON-native tree as one YAML document in block style, keys
// sorted, lists indented as kubectl does. Strings that a YAML 1.1 or 1.2 reader
// would take for something else are quoted; characters that do not print are
// escaped.
func EncodeYAML(tree any) []byte {
	return []byte(kubectl.document(tree))
}

// document returns a whole document.
func (l layout) document(v any) string {
	w := &yamlWriter{layout: l}
	if isBlock(v) {
		w.block(v, 0)
	} else {
		w.scalar(v, "", l.indent)
	}
	return w.out.String()
}

// member returns "key: value" with a comment after the key or scalar, each line
// indented.
func (l layout) member(key string, v any, comment string, indent int) string {
	w := &yamlWriter{layout: l}
	w.spaces(indent)
	w.member(key, v, strings.ReplaceAll(comment, "\n", " "), indent)
	return w.out.String()
}

// yamlWriter is an encoder of its own because the library's writes a key above 128
// bytes as an explicit one. What it writes of a value begins where the line is,
// and ends with a line break.
type yamlWriter struct {
	layout layout
	out    strings.Builder
}

func (w *yamlWriter) spaces(count int) {
	w.out.WriteString(strings.Repeat(" ", count))
}

// isBlock says whether v is a list or object that has lines of its own.
func isBlock(v any) bool {
	switch v := v.(type) {
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

// block writes a list or object that is not empty; the line is at indent already.
func (w *yamlWriter) block(v any, indent int) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if i > 0 {
				w.spaces(indent)
			}
			w.item(item, indent)
		}
	case map[string]any:
		for i, key := range tree.SortedKeys(v) {
			if i > 0 {
				w.spaces(indent)
			}
			w.member(key, v[key], "", indent)
		}
	}
}

func (w *yamlWriter) item(v any, indent int) {
	const mark = "- "
	w.out.WriteString(mark)
	if isBlock(v) {
		w.block(v, indent+len(mark))
	} else {
		w.scalar(v, "", indent+len(mark))
	}
}

func (w *yamlWriter) member(key string, v any, comment string, indent int) {
	name := keyText(key)
	if len(name) > maxSimpleKey {
		w.out.WriteString("? " + name + "\n")
		w.spaces(indent)
		name = ""
	}
	w.out.WriteString(name + ":")
	if !isBlock(v) {
		w.out.WriteString(" ")
		w.scalar(v, comment, indent+w.layout.indent)
		return
	}
	if comment != "" {
		comment = " " + comment
	}
	w.out.WriteString(comment + "\n")
	if _, isList := v.([]any); !isList || w.layout.wide {
		indent += w.layout.indent
	}
	w.spaces(indent)
	w.block(v, indent)
}

// scalar writes what is no block; the lines of a text, if there are several, at indent.
func (w *yamlWriter) scalar(v any, comment string, indent int) {
	first, rest := scalarText(v), ""
	if text, isText := v.(string); isText && strings.Contains(text, "\n") && multiLine.MatchString(text) {
		first, rest = literal(text, indent)
	}
	if comment != "" {
		first += " " + comment
	}
	w.out.WriteString(first + "\n" + rest)
}
