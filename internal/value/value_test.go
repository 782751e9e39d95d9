package value_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/value"
)

func TestPointerEscapes(t *testing.T) {
	assert.Equal(t, "", value.Pointer(""))
	assert.Equal(t, "/a", value.Pointer("/a"))
	assert.Equal(t, "/a/b~1c/~0/~01/", value.Pointer("/a", "b/c", "~", "~1", ""))
}

func TestSortedKeys(t *testing.T) {
	assert.Equal(t, []string{"A", "a", "b"}, value.SortedKeys(map[string]int{"b": 1, "A": 2, "a": 3}))
	assert.Empty(t, value.SortedKeys[any](nil))
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
			assert.Equal(t, test.want, value.Equal(test.a, test.b))
			assert.Equal(t, test.want, value.Equal(test.b, test.a))
		})
	}
}

func TestMarshalIsCompactSortedAndUnescaped(t *testing.T) {
	tree := map[string]any{"url": "https://h/q?a=1&b=<2>", "a": []any{int64(1), 0.5, nil, true, "ü"}, "n": []any(nil), "o": map[string]any(nil)}
	encoded, err := value.Marshal(tree)
	require.NoError(t, err)
	assert.Equal(t, `{"a":[1,0.5,null,true,"ü"],"n":[],"o":{},"url":"https://h/q?a=1&b=<2>"}`, string(encoded))
}

func TestMarshalRefusesWhatIsNotNative(t *testing.T) {
	cyclic := []any{nil}
	cyclic[0] = cyclic
	for name, v := range map[string]any{"an int": 1, "a NaN": math.NaN(), "a struct deep down": map[string]any{"a": []any{struct{}{}}}, "a cycle": cyclic} {
		t.Run(name, func(t *testing.T) {
			encoded, err := value.Marshal(v)
			require.Error(t, err)
			assert.Nil(t, encoded)
		})
	}
	assert.Zero(t, value.Size(math.NaN()))
	assert.Zero(t, value.Size(struct{}{}))
}

// FuzzMarshal holds Marshal and Size against encoding/json.
func FuzzMarshal(f *testing.F) {
	f.Add("plain", 0.5, int64(1))
	f.Add("\x00\b\f\n\r\t\x1f\x7f\"\\/<>&\u2028\u2029\ufffd\xff\xf0\x9f\x98\x80", 1e21, int64(math.MinInt64))
	f.Add("", 1e-7, int64(0))
	f.Add("é", -1.5e-300, int64(-5))
	f.Add("k", math.MaxFloat64, int64(7))
	f.Fuzz(func(t *testing.T, text string, float float64, integer int64) {
		if math.IsNaN(float) || math.IsInf(float, 0) {
			return
		}
		tree := map[string]any{text: []any{text, float, integer}, "z": map[string]any{}, "e": []any{}, "n": nil, "t": true}
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(tree))
		got, err := value.Marshal(tree)
		require.NoError(t, err)
		assert.Equal(t, string(bytes.TrimSuffix(want.Bytes(), []byte("\n"))), string(got))
		assert.Equal(t, len(got), value.Size(tree))
	})
}
