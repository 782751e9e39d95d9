package document_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/value"
)

var seeds = []string{
	`{"context":{"project":"demo","stage":"test"},"outputs":{"open-pr":{"pr":{"id":42,"url":"https://h/q?a=1&b=2"}}},"config":{"metadata":[]}}`,
	"context: {project: demo}\noutputs:\n  sync:\n    apps:\n    - name: web # c\n      health: 'Healthy'\n",
	"{country: NO, on: push, n: 3, tag: 1.10, mode: 0777}",
	`["\ud83d\ude00", -0, 1.5e-7, 9007199254740993, 1e400, {"a":1,"a":2}]`,
	"a: |+\n  x\n\nb: >-\n  y\n  z\n? c\n: d\n",
	"a: &x [1]\nb: *x\n<<: {c: !!str 1}\n--- \n",
	"%YAML 1.2\n---\n- - - a\n  - b:\n...\n",
	"{\"a\" : [ tru , \"\t\" ] }", "\ufeff", "\xff", "{a: b", "- a\n-\tb\n", "a:\r\n  b: c\r\n",
}

// FuzzParse: nothing panics, trees are native, and YAML reads JSON as JSON does.
func FuzzParse(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	stage, err := os.ReadFile("testdata/stage.yaml")
	require.NoError(f, err)
	f.Add(stage)
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := document.Parse(data)
		if err != nil {
			assert.Nil(t, tree)
			return
		}
		native, problems := value.Native(tree, "", value.Limits{})
		require.Empty(t, problems)
		require.Equal(t, tree, native)
		fromJSON, err := document.ParseJSON(data)
		if err != nil {
			return
		}
		if fromYAML, err := document.ParseYAML(data); err == nil {
			assert.Equal(t, fromJSON, fromYAML)
		}
	})
}

// FuzzReplace: what was set is read back, or the layout is refused.
func FuzzReplace(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), "links", "1.10")
	}
	stage, err := os.ReadFile("testdata/stage.yaml")
	require.NoError(f, err)
	f.Add(stage, "status", "two\nlines\n")
	f.Fuzz(func(t *testing.T, data []byte, key, text string) {
		replaced, err := document.Replace(data, document.Edit{Path: []string{key}, Value: map[string]any{text: []any{text}}})
		if err != nil {
			assert.Nil(t, replaced)
			return
		}
		tree, err := document.Parse(replaced)
		require.NoError(t, err)
		assert.Equal(t, map[string]any{text: []any{text}}, tree.(map[string]any)[key])
	})
}
