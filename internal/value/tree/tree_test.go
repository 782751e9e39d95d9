package tree_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

func TestSortedKeys(t *testing.T) {
	assert.Equal(t, []string{"A", "a", "b"}, tree.SortedKeys(map[string]int{"b": 1, "A": 2, "a": 3}))
	assert.Empty(t, tree.SortedKeys[any](nil))
}

func TestEqual(t *testing.T) {
	cases := map[string]struct {
		a, b any
		want bool
	}{
		"nils":                              {nil, nil, true},
		"nil and false":                     {nil, false, false},
		"bools":                             {true, true, true},
		"a bool and its name":               {true, "true", false},
		"strings":                           {"1.10", "1.10", true},
		"a string and a number":             {"1", int64(1), false},
		"a number and a string":             {int64(1), "1", false},
		"an int64 and the same float64":     {int64(1), 1.0, true},
		"a float64 and the same int64":      {1.0, int64(1), true},
		"an int64 and another float64":      {int64(1), 1.5, false},
		"neighbours above 2^53":             {int64(9007199254740993), 9007199254740992.0, false},
		"the largest int64 and 2^63":        {int64(math.MaxInt64), float64(1 << 63), false},
		"a float64 and a string":            {1.5, "1.5", false},
		"float64s":                          {1.5, 1.5, true},
		"lists":                             {[]any{int64(1), "a"}, []any{1.0, "a"}, true},
		"lists in another order":            {[]any{"a", "b"}, []any{"b", "a"}, false},
		"a list and a longer one":           {[]any{"a"}, []any{"a", "a"}, false},
		"a list and an object":              {[]any{}, map[string]any{}, false},
		"a nil list and an empty one":       {[]any(nil), []any{}, true},
		"objects":                           {map[string]any{"a": []any{nil}}, map[string]any{"a": []any{nil}}, true},
		"objects with another key":          {map[string]any{"a": nil}, map[string]any{"b": nil}, false},
		"objects with another value":        {map[string]any{"a": nil}, map[string]any{"a": ""}, false},
		"an object and a larger one":        {map[string]any{}, map[string]any{"a": nil}, false},
		"a Go int, which is not native":     {1, 1, false},
		"an int64 and an int, not a native": {int64(1), 1, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, tree.Equal(test.a, test.b))
			assert.Equal(t, test.want, tree.Equal(test.b, test.a))
		})
	}
}

func TestCanonical(t *testing.T) {
	for name, test := range map[string]struct{ in, want any }{
		"an integral float64":    {1e5, int64(100_000)},
		"minus zero":             {math.Copysign(0, -1), int64(0)},
		"the smallest int64":     {-float64(1 << 63), int64(math.MinInt64)},
		"2^63, above all int64s": {float64(1 << 63), float64(1 << 63)},
		"a fraction":             {0.5, 0.5},
		"an infinity":            {math.Inf(1), math.Inf(1)},
		"an int64":               {int64(7), int64(7)},
		"a string":               {"1.0", "1.0"},
		"nil":                    {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, tree.Canonical(test.in))
		})
	}
	assert.IsType(t, 0.0, tree.Canonical(math.NaN()))
}
