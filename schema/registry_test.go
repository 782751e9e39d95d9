package schema_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/schema"
)

func TestRegistryHoldsWellKnownAndRegisteredKeys(t *testing.T) {
	registry, err := schema.NewRegistry(
		schema.WithKey("example.com/release", object{"type": "object", "required": []any{"opens"}}),
		schema.WithKey("acme.com/deployWindow", true))
	require.NoError(t, err)
	want := slices.DeleteFunc(slices.Clone(wellKnownKeys), func(key string) bool { return key == schema.Provenance })
	want = append(want, "example.com/release", "acme.com/deployWindow")
	slices.Sort(want)
	assert.Equal(t, want, registry.Keys())
	found, ok := registry.Lookup("example.com/release")
	require.True(t, ok)
	requireProblems(t, expected{"": {"missing field opens"}}, found.Validate(object{}))
	_, ok = registry.Lookup(schema.Provenance)
	assert.True(t, ok)
	_, ok = registry.Lookup("example.com/other")
	assert.False(t, ok)

	plain, err := schema.NewRegistry()
	require.NoError(t, err)
	_, ok = plain.Lookup("example.com/release")
	assert.False(t, ok, "another registry is not changed")
	for _, key := range wellKnownKeys {
		assert.True(t, schema.WellKnown(key), key)
	}
	assert.False(t, schema.WellKnown("example.com/release"))
}

func TestRegistryRefusesKeys(t *testing.T) {
	for name, test := range map[string]struct {
		key      string
		document any
		says     string
	}{
		"a well-known key":           {"links", object{}, "key links: is the tool's own"},
		"the reserved key":           {"provenance", object{}, "key provenance: is the tool's own"},
		"a key without a prefix":     {"linkz", object{}, "key linkz: is not a well-known key; did you mean links?"},
		"a schema that is refused":   {"example.com/a", object{"tpye": "x"}, "key example.com/a: schema: /tpye: unknown keyword tpye; did you mean type?"},
		"a schema that is no schema": {"example.com/a", nil, "an object or a boolean"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := schema.NewRegistry(schema.WithKey(test.key, test.document))
			require.ErrorContains(t, err, test.says)
		})
	}
	_, err := schema.NewRegistry(schema.WithKey("example.com/a", true), schema.WithKey("example.com/a", true),
		schema.WithKey("example.com/b", object{"tpye": "x"}))
	require.ErrorContains(t, err, "key example.com/a: is registered already")
	var problems schema.Problems
	require.ErrorAs(t, err, &problems)
	assert.Equal(t, "/tpye", problems[0].Pointer)
}

func TestCheckKey(t *testing.T) {
	for _, key := range []string{
		"example.com/a", "a/b", "a-b.example.com/Deploy_Window.v1", "1.2/3",
		strings.Repeat("a", 253) + "/" + strings.Repeat("b", 63),
	} {
		assert.Empty(t, schema.CheckKey(key), key)
	}
	for key, says := range map[string]string{
		"": "is empty", "links": "is not a well-known key", "linkz": "did you mean links?",
		"pullrequests": "did you mean pullRequests?", "provenanc": "is not a well-known key (a key of your own",
		"zzzzzzzzzzzz": "is not a well-known key (a key of your own begins with a DNS name",
		"/a":           "DNS name in lower case", "Example.com/a": "DNS name in lower case", "a_b/c": "DNS name",
		"-a/b": "DNS name", "a./b": "DNS name", "a..b/c": "DNS name", "a b/c": "DNS name",
		strings.Repeat("a", 254) + "/b": "DNS name",
		"example.com/":                  "has to end in a name", "example.com/a/b": "has to end in a name", "example.com/-a": "has to end in a name",
		"example.com/a b": "has to end in a name", "example.com/a\n": "has to end in a name",
		"example.com/" + strings.Repeat("a", 64): "has to end in a name",
	} {
		assert.Contains(t, schema.CheckKey(key), says, "%q", key)
	}
}

// A schema counts the work of one validation at a time.
func TestSchemasAreSafeForConcurrentUse(t *testing.T) {
	registry, err := schema.NewRegistry(schema.WithKey("example.com/a",
		object{"allOf": []any{object{"properties": object{"a": ref("#")}}, object{"properties": object{"a": ref("#")}}}}))
	require.NoError(t, err)
	links, _ := registry.Lookup("links")
	costlySchema, _ := registry.Lookup("example.com/a")
	bad := object{"a": object{"url": "x", "colour": true}, "b": object{}}
	want := links.Validate(bad)
	require.Len(t, want, 3)
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for range 20 {
				assert.Equal(t, want, links.Validate(bad))
				assert.Nil(t, links.Validate(object{"a": object{"url": "https://a.example"}}))
				assert.Nil(t, costlySchema.Validate(nested(5, "a", true)))
				_, found := registry.Lookup("links")
				assert.True(t, found)
			}
			if i == 0 {
				assert.Contains(t, costlySchema.Validate(nested(30, "a", true)).Error(), costly)
			}
		})
	}
	group.Wait()
}
