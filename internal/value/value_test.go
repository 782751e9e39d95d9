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

func TestMarshalIsCompactSortedAndUnescaped(t *testing.T) {
	tree := map[string]any{"url": "https://h/q?a=1&b=<2>", "a": []any{int64(1), 0.5, nil, true, "ü"}, "n": []any(nil), "o": map[string]any(nil)}
	encoded, err := value.Marshal(tree)
	require.NoError(t, err)
	const want = `{"a":[1,0.5,null,true,"ü"],"n":[],"o":{},"url":"https://h/q?a=1&b=<2>"}`
	assert.Equal(t, want, string(encoded)) //nolint:testifylint // the bytes count: order, space and escapes
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
