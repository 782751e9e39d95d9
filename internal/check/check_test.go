package check_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/resolve"
	"github.com/kargo-steps/publish-metadata/internal/shape"
	"github.com/kargo-steps/publish-metadata/schema"
)

func TestOneRequestHasALimitOfBytes(t *testing.T) {
	entries := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "e%d: %s, ", i, strings.Repeat("x", 30_000))
		}
		return "{key: example.com/x, schema: {}, value: {" + text.String() + "}}, {key: links, value: {a: {url: \"https://a.example.com\"}}}"
	}
	_, err := checked(t.Context(), t, items(entries(8)))
	require.NoError(t, err)
	_, err = checked(t.Context(), t, items(entries(9)))
	require.ErrorIs(t, err, fault.TooLarge)
	require.ErrorContains(t, err, "/config/metadata/0/value: 270110 bytes of JSON in all, more than 262144; the largest key is example.com/x with 270073: publish less")
}

func TestEntriesHaveALimitOfNumber(t *testing.T) {
	entries := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "e%d: 1, ", i)
		}
		return items("{key: example.com/x, schema: {}, value: {" + text.String() + "}}")
	}
	_, err := checked(t.Context(), t, entries(check.MaxEntries))
	require.NoError(t, err)
	_, err = checked(t.Context(), t, entries(check.MaxEntries+1))
	require.ErrorContains(t, err, "/config/metadata/0/value: 501 entries of example.com/x, more than 500")
}

func TestResolvingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := checked(ctx, t, items("{key: links, fromExpression: outputs}"))
	require.ErrorIs(t, err, fault.Timeout)
	require.ErrorIs(t, err, context.Canceled)
}

func TestKeptEntriesAreCheckedAgain(t *testing.T) {
	publication, err := checked(t.Context(), t, items("{key: links, fromExpression: outputs.a.b, onMissing: keep}, "+
		"{key: example.com/y, schema: {}, value: {a: "+strings.Repeat("x", 20_000)+"}}, {key: example.com/x, schema: {}, fromExpression: outputs.a.b, onMissing: keep}"))
	require.NoError(t, err)
	require.NoError(t, publication.Recheck("links", map[string]any{"a": map[string]any{"url": "https://a.example.com"}}))
	require.NoError(t, publication.Recheck("example.com/x", map[string]any{"a": "x", "b": map[string]any{"c": []any{nil, map[string]any{}}}}))
	err = publication.Recheck("links", map[string]any{"a": map[string]any{"url": "ftp://hunter2"}})
	require.ErrorIs(t, err, fault.Invalid)
	require.ErrorContains(t, err, "Stage demo/test: /status/metadata/links/a/url: ")
	require.NotContains(t, err.Error(), "hunter2")

	large, many := map[string]any{}, map[string]any{}
	for i := range 8 {
		large[fmt.Sprint(i)] = strings.Repeat("x", 31_000)
	}
	for i := range check.MaxEntries + 1 {
		many[fmt.Sprint(i)] = true
	}
	for want, test := range map[string]struct {
		content map[string]any
		kind    fault.Kind
	}{
		"/status/metadata/example.com~1x/a/b: null is not stored":              {map[string]any{"a": map[string]any{"b": nil}}, fault.Invalid},
		"/status/metadata/example.com~1x/a/b/c: an empty object is not stored": {map[string]any{"a": map[string]any{"b": map[string]any{"c": map[string]any{}}}}, fault.Invalid},
		"the name of an entry of example.com/x has a control character":        {map[string]any{"a\u202eb": true}, fault.Invalid},
		"/a: a string of 32769 bytes, more than 32768":                         {map[string]any{"a": strings.Repeat("x", check.MaxString+1)}, fault.Invalid},
		"501 entries of example.com/x, more than 500":                          {many, fault.Invalid},
		"more than 262144: publish less, or remove them":                       {large, fault.TooLarge},
	} {
		err := publication.Recheck("example.com/x", test.content)
		require.ErrorIs(t, err, test.kind)
		require.ErrorContains(t, err, want)
	}
}

func TestNullAndEmptyEntriesAreWarnedOf(t *testing.T) {
	publication, err := checked(t.Context(), t, items(`{key: links, value: {e: null, "a b": null, f: {url: "https://f.example.com"}}}, {key: tickets, onMissing: remove, value: {a: null}}`))
	require.NoError(t, err)
	require.Equal(t, []string{
		`/config/metadata/0: links."a b" is null: nothing is published there`,
		"/config/metadata/0: links.e is null: nothing is published there",
		"/config/metadata/1: all entries of tickets are null: a; onMissing is remove",
	}, publication.Warnings())
	require.Len(t, publication.Metadata(), 1)

	var nulls strings.Builder
	for i := range 30 {
		fmt.Fprintf(&nulls, "n%d: null, ", i)
	}
	publication, err = checked(t.Context(), t, items(`{key: links, value: {`+nulls.String()+`f: {url: "https://f.example.com"}}}`))
	require.NoError(t, err)
	require.Len(t, publication.Warnings(), 21)
	require.Equal(t, "/config/metadata/0: and 10 more entries of links are null", publication.Warnings()[20])
}

func TestValuesThatAreTooLargeAreNotLookedInto(t *testing.T) {
	text := contextText + "outputs: {a: {metadata: {links: {x: [" + strings.Repeat(strings.Repeat("x", 30_000)+", ", 80) + "]}}}}\nconfig: {metadata: ["
	_, err := checked(t.Context(), t, text+"{fromStep: {as: a}}, {fromStep: {as: a}}]}")
	require.ErrorIs(t, err, fault.TooLarge)
	require.ErrorContains(t, err, "/config/metadata/0/fromStep/links: the values of the request have more than 2097152 bytes of JSON in all: publish less; /config/metadata/1/fromStep/links")
	_, err = checked(t.Context(), t, text+"{fromStep: {as: a}}, {key: linkz, value: {}}]}")
	require.ErrorIs(t, err, fault.Invalid, "the size is not all that is wrong")
	require.ErrorContains(t, err, "2097152")
}

func TestKeysHaveALimitOfNumber(t *testing.T) {
	documents := make(map[string]any)
	offers := make(map[string]any)
	options := make([]schema.Option, 0, check.MaxEntries)
	for i := range decode.MaxKeys + 1 {
		key := fmt.Sprintf("example.com/k%d", i)
		options, offers[key] = append(options, schema.WithKey(key, true)), map[string]any{"a": true}
	}
	registry, err := schema.NewRegistry(options...)
	require.NoError(t, err)
	documents["context"] = map[string]any{"project": "demo", "stage": "test", "meta": map[string]any{"step": map[string]any{"alias": "a"}}}
	first := map[string]any{"example.com/k50": offers["example.com/k50"]}
	for want, outputs := range map[string]map[string]any{
		"/config/metadata/0/fromStep: step a offers 51 keys, more than 50": {"a": map[string]any{"metadata": offers}, "b": map[string]any{"metadata": first}},
		"/config/metadata: 51 keys, more than 50":                          {"a": map[string]any{"metadata": without(offers, "example.com/k50")}, "b": map[string]any{"metadata": first}},
	} {
		documents["outputs"] = outputs
		documents["config"] = map[string]any{"metadata": []any{
			map[string]any{"fromStep": map[string]any{"as": "a"}}, map[string]any{"fromStep": map[string]any{"as": "b"}},
		}}
		job, err := decode.Decode(t.Context(), registry, documents)
		require.NoError(t, err)
		resolved, err := resolve.Resolve(t.Context(), job)
		require.NoError(t, err)
		_, err = check.Check(t.Context(), shape.Shape(resolved))
		require.ErrorIs(t, err, fault.Invalid)
		require.ErrorContains(t, err, want)
	}
}

func without(object map[string]any, name string) map[string]any {
	copied := maps.Clone(object)
	delete(copied, name)
	return copied
}

func TestEveryStageEndsWithItsContext(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	registry, err := schema.NewRegistry()
	require.NoError(t, err)
	tree, err := document.Parse([]byte(items("{key: links, value: {a: {url: \"https://a.example.com\"}}}, {key: example.com/x, schema: {}, value: {}}")))
	require.NoError(t, err)
	_, err = decode.Decode(cancelled, registry, tree.(map[string]any))
	require.ErrorIs(t, err, fault.Timeout)
	job, err := decode.Decode(t.Context(), registry, tree.(map[string]any))
	require.NoError(t, err)
	_, err = resolve.Resolve(cancelled, job)
	require.ErrorIs(t, err, fault.Timeout)
	resolved, err := resolve.Resolve(t.Context(), job)
	require.NoError(t, err)
	_, err = check.Check(cancelled, shape.Shape(resolved))
	require.ErrorIs(t, err, fault.Timeout)
	require.ErrorIs(t, err, context.Canceled)
}
