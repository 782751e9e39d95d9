// Package value holds JSON-native trees: the one form in which data passes
// from stage to stage.
//
// In: any Go value, such as a step's output, the result of an expression or a
// number literal. Out: a tree of nil, bool, string, int64, float64, []any and
// map[string]any and nothing else, within limits, and the operations on such
// trees that every stage shares.
package value

import (
	"maps"
	"slices"
	"strings"
)

var escaper = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer returns the JSON Pointer (RFC 6901) of tokens under base.
func Pointer(base string, tokens ...string) string {
	var text strings.Builder
	text.WriteString(base)
	for _, token := range tokens {
		text.WriteByte('/')
		text.WriteString(escaper.Replace(token))
	}
	return text.String()
}

// SortedKeys returns the keys of m in ascending order; none for a nil map.
func SortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
