package schema_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/schema"
)

func TestCompileRefuses(t *testing.T) {
	type refused struct {
		Schema   tree     `yaml:"schema"`
		Problems expected `yaml:"problems"`
	}
	for name, test := range load[map[string]refused](t, "schemas-refused.yaml") {
		t.Run(name, func(t *testing.T) {
			isContained(t, func() {
				requireProblems(t, test.Problems, compileProblems(t, test.Schema.value))
			})
		})
	}
}

func TestCompileAccepts(t *testing.T) {
	type invalid struct {
		Value    tree     `yaml:"value"`
		Problems expected `yaml:"problems"`
	}
	type accepted struct {
		Schema  tree      `yaml:"schema"`
		Valid   []tree    `yaml:"valid"`
		Invalid []invalid `yaml:"invalid"`
	}
	for name, test := range load[map[string]accepted](t, "schemas-accepted.yaml") {
		t.Run(name, func(t *testing.T) {
			compiled, err := schema.Compile(test.Schema.value)
			require.NoError(t, err)
			for _, valid := range test.Valid {
				assert.Nil(t, compiled.Validate(valid.value))
			}
			for _, invalid := range test.Invalid {
				requireProblems(t, invalid.Problems, compiled.Validate(invalid.Value.value))
			}
		})
	}
}

func TestUncheckedIsAnEmptySchemaOrTrue(t *testing.T) {
	for document, unchecked := range map[string]any{"{}": map[string]any{}, "true": true} {
		compiled, err := schema.Compile(unchecked)
		require.NoError(t, err)
		assert.True(t, compiled.Unchecked(), document)
		assert.Equal(t, document, string(compiled.Raw()))
	}
	for _, checked := range []any{false, map[string]any{"type": "object"}, map[string]any{"title": "t"}} {
		compiled, err := schema.Compile(checked)
		require.NoError(t, err)
		assert.False(t, compiled.Unchecked(), fmt.Sprint(checked))
	}
}

func TestASchemaDoesNotChangeWithItsDocument(t *testing.T) {
	document := map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"enum": []any{"<&>"}}}}
	compiled, err := schema.Compile(document)
	require.NoError(t, err)
	document["properties"].(map[string]any)["a"].(map[string]any)["enum"].([]any)[0] = "x"
	compiled.Document().(map[string]any)["type"] = "string"
	compiled.Raw()[0] = 'x'
	assert.Nil(t, compiled.Validate(map[string]any{"a": "<&>"}))
	assert.JSONEq(t, `{"type":"object","properties":{"a":{"enum":["<&>"]}}}`, string(compiled.Raw()))
	assert.Contains(t, string(compiled.Raw()), "<&>", "no HTML escapes")
	assert.Equal(t, "object", compiled.Document().(map[string]any)["type"])
}

func TestEntryNames(t *testing.T) {
	for name, test := range map[string]struct {
		value any
		want  [][]string
	}{
		"one field":    {[]any{"name"}, [][]string{{"name"}}},
		"two fields":   {[]any{"a", "b"}, [][]string{{"a", "b"}}},
		"alternatives": {[]any{[]any{"name"}, []any{"a", "b"}}, [][]string{{"name"}, {"a", "b"}}},
	} {
		t.Run(name, func(t *testing.T) {
			compiled, err := schema.Compile(map[string]any{"x-entry-name": test.value})
			require.NoError(t, err)
			got := compiled.EntryNames()
			assert.Equal(t, test.want, got)
			got[0][0] = "changed"
			assert.Equal(t, test.want, compiled.EntryNames())
		})
	}
	compiled, err := schema.Compile(map[string]any{"type": "object"})
	require.NoError(t, err)
	assert.Empty(t, compiled.EntryNames())
}
