// Package tree compares and walks JSON-native trees; it needs nothing else, so
// that the public schema package can use it too.
//
// In: trees of nil, bool, string, int64, float64, []any and map[string]any,
// bounded, as value.Native leaves them. Out: what two of them, or the members of
// one, have in common.
package tree

import (
	"maps"
	"math"
	"slices"
)

// Equal says whether two trees are the same JSON value: int64 1 equals float64
// 1.0, and a nil list or object equals an empty one. A value of any type that is
// not JSON-native equals nothing.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool, string:
		return a == b
	case int64, float64:
		// As integers: a float64 cannot tell neighbours above 2^53 apart.
		return Canonical(a) == Canonical(b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, Equal)
	}
	return false
}

// Canonical returns the int64 of an integral float64 that has one, else v itself.
func Canonical(v any) any {
	float, ok := v.(float64)
	if ok && float == math.Trunc(float) && float >= -(1<<63) && float < 1<<63 {
		return int64(float)
	}
	return v
}

// SortedKeys returns the keys of m in ascending order; none for a nil map.
func SortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
