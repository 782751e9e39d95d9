package schema_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/schema"
)

var wellKnownKeys = []string{
	"applications", "artifacts", "checks", "commits", "environments", "links", "provenance", "pullRequests", "tickets",
}

func lookup(t *testing.T, key string) *schema.Schema {
	t.Helper()
	registry, err := schema.NewRegistry()
	require.NoError(t, err)
	found, ok := registry.Lookup(key)
	require.True(t, ok, key)
	return found
}

var longText = regexp.MustCompile(`LONG([0-9]+)$`)

// lengthen replaces LONG80 at the end of a text by 80 letters.
func lengthen(v any) any {
	switch v := v.(type) {
	case string:
		return longText.ReplaceAllStringFunc(v, func(match string) string {
			length, _ := strconv.Atoi(strings.TrimPrefix(match, "LONG"))
			return strings.Repeat("a", length)
		})
	case []any:
		for i := range v {
			v[i] = lengthen(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = lengthen(v[key])
		}
	}
	return v
}

func TestWellKnownValues(t *testing.T) {
	type invalid struct {
		Value    tree     `yaml:"value"`
		Problems expected `yaml:"problems"`
	}
	type cases struct {
		Valid   map[string]tree    `yaml:"valid"`
		Invalid map[string]invalid `yaml:"invalid"`
	}
	for _, key := range wellKnownKeys {
		all := load[cases](t, "wellknown", key+".yaml")
		compiled := lookup(t, key)
		require.GreaterOrEqual(t, len(all.Valid), 5, key)
		require.GreaterOrEqual(t, len(all.Invalid), 15, key)
		for name, valid := range all.Valid {
			t.Run(key+": "+name, func(t *testing.T) {
				assert.Nil(t, compiled.Validate(lengthen(valid.value)))
			})
		}
		for name, test := range all.Invalid {
			t.Run(key+": "+name, func(t *testing.T) {
				requireProblems(t, test.Problems, compiled.Validate(lengthen(test.Value.value)))
			})
		}
	}
}

func TestWellKnownEntriesAreCapped(t *testing.T) {
	entries := map[string]any{
		"applications": object{"name": "a", "namespace": "b"}, "artifacts": object{"uri": "nginx"}, "checks": object{"name": "a"},
		"commits":      object{"repoURL": "https://a.example/b", "id": strings.Repeat("a", 40)},
		"environments": object{"url": "https://a.example"}, "links": object{"url": "https://a.example"},
		"provenance": object{"stage": "a"}, "pullRequests": object{"id": "1", "url": "https://a.example"},
		"tickets": object{"key": "a", "system": "jira"},
	}
	limits := map[string]int{"links": 50, "applications": 200, "provenance": 200}
	for _, key := range wellKnownKeys {
		limit := max(limits[key], 100)
		if key == "links" {
			limit = limits[key]
		}
		compiled := lookup(t, key)
		assert.Nil(t, compiled.Validate(named(limit, func(int) any { return entries[key] })), key)
		requireProblems(t, expected{"": {fmt.Sprintf("has more than %d members: 500", limit)}},
			compiled.Validate(named(500, func(int) any { return entries[key] })))
		requireProblems(t, expected{"/" + text(254): {"is longer than 253 characters"}},
			compiled.Validate(object{text(254): entries[key]}))
		requireProblems(t, expected{"/a\u2028b": {"one line"}}, compiled.Validate(object{"a\u2028b": entries[key]}))
	}
}

// As many entries as are allowed, with every field and long names, are affordable.
func TestTheFullestWellKnownValuesAreChecked(t *testing.T) {
	type cases struct {
		Valid   map[string]tree `yaml:"valid"`
		Invalid any             `yaml:"invalid"`
	}
	limits := map[string]int{"links": 50, "applications": 200, "provenance": 200}
	for _, key := range wellKnownKeys {
		everything := load[cases](t, "wellknown", key+".yaml").Valid["everything"].value
		limit := limits[key]
		if limit == 0 {
			limit = 100
		}
		full := object{}
		for _, entry := range everything.(map[string]any) {
			for i := range limit {
				full[fmt.Sprintf("%0253d", i)] = entry
			}
		}
		require.Len(t, full, limit, key)
		assert.Nil(t, lookup(t, key).Validate(full), key)
	}
}

func TestWellKnownEntryNames(t *testing.T) {
	for key, want := range map[string][][]string{
		"applications": {{"namespace", "name"}}, "tickets": {{"system", "key"}}, "checks": {{"name"}},
		"pullRequests": {{"id"}}, "commits": {{"id"}}, "environments": {{"name"}}, "links": {{"label"}},
		"artifacts": {{"name"}, {"digest"}}, "provenance": {},
	} {
		assert.Equal(t, want, lookup(t, key).EntryNames(), key)
	}
}

// Every field has a description, every object is closed, and the file is what
// the schema returns.
func TestWellKnownSchemasAreDescribedAndClosed(t *testing.T) {
	for _, key := range wellKnownKeys {
		compiled := lookup(t, key)
		document, ok := compiled.Document().(map[string]any)
		require.True(t, ok)
		assert.Equal(t, "https://json-schema.org/draft/2020-12/schema", document["$schema"])
		assert.Equal(t, "https://kargo-steps.github.io/publish-metadata/schema/"+key+".json", document["$id"])
		assert.NotEmpty(t, document["title"])
		entry, ok := document["additionalProperties"].(map[string]any)
		require.True(t, ok, "a map of entries")
		assert.Equal(t, false, entry["additionalProperties"])
		described(t, document, key)
		var raw any
		require.NoError(t, json.Unmarshal(compiled.Raw(), &raw))
		again, err := json.Marshal(document)
		require.NoError(t, err)
		assert.JSONEq(t, string(again), string(compiled.Raw()))
		assert.False(t, compiled.Unchecked())
	}
}

// described fails unless the schema, its fields, members and items all have a
// description that says something.
func described(t *testing.T, node map[string]any, place string) {
	t.Helper()
	if _, isRef := node["$ref"]; !isRef {
		text, _ := node["description"].(string)
		assert.Greater(t, len(text), 5, place)
		assert.True(t, strings.HasSuffix(text, "."), "%s: %s", place, text)
	}
	for _, keyword := range []string{"properties", "definitions", "$defs"} {
		fields, _ := node[keyword].(map[string]any)
		for name, field := range fields {
			described(t, field.(map[string]any), place+"."+name)
		}
	}
	for _, keyword := range []string{"additionalProperties", "propertyNames", "items"} {
		if sub, ok := node[keyword].(map[string]any); ok {
			described(t, sub, place+"."+keyword)
		}
	}
}
