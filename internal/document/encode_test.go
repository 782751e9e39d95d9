package document_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	yaml11 "sigs.k8s.io/yaml"

	"github.com/kargo-steps/publish-metadata/internal/document"
)

func TestEncodeYAML(t *testing.T) {
	for want, tree := range map[string]any{
		"null\n":         nil,
		"{}\n":           object{},
		"[]\n":           []any{},
		"1.0e-07\n":      1e-7,
		"\"1.10\"\n":     "1.10",
		"|-\n  a\n  b\n": "a\nb",
		"a: true\nb:\n- - 1\n  - []\n- c: {}\n  d: null\n":                          object{"b": []any{[]any{int64(1), []any{}}, object{"c": object{}, "d": nil}}, "a": true},
		"- \"a\\n\\n\"\n- |\n  a\n\n  b\n":                                          []any{"a\n\n", "a\n\nb\n"},
		"- \"=\"\n- \"<<\"\n- \"NO\"\n- \"\\u007F\\uFFFE\\U000E0001\\\"\\\\\\t\"\n": []any{"=", "<<", "NO", "\x7f\ufffe\U000e0001\"\\\t"},
	} {
		got := string(document.EncodeYAML(tree))
		assert.Equal(t, want, got)
		reread, err := document.ParseYAML([]byte(got))
		require.NoError(t, err, got)
		assert.Equal(t, tree, reread)
		var legacy any
		require.NoError(t, yaml11.Unmarshal([]byte(got), &legacy), got)
	}
}
