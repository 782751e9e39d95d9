package offline_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
)

var target = decode.Target{Kind: "Stage", Namespace: "demo", Name: "test"}

const manifest = `# The test Stage.
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata:
  name: test # by hand
  namespace: demo
  resourceVersion: "4711"
  labels: {"a": 'b'}

spec:
  requestedFreight:
  - origin: {kind: Warehouse, name: "web"} # one
status:
  health: {status: Healthy}   # as seen
`

func read(t testing.TB, text string) *offline.Store {
	t.Helper()
	store, err := offline.Read([]byte(text))
	require.NoError(t, err)
	return store
}

// body applies metadata, at a resourceVersion unless that is "".
func body(version string, metadata map[string]any) *unstructured.Unstructured {
	identity := map[string]any{"name": "test", "namespace": "demo"}
	if version != "" {
		identity["resourceVersion"] = version
	}
	object := map[string]any{"apiVersion": publish.APIVersion, "kind": "Stage", "metadata": identity}
	if metadata != nil {
		object["status"] = map[string]any{"metadata": metadata}
	}
	return &unstructured.Unstructured{Object: object}
}

func apply(t testing.TB, store *offline.Store, metadata map[string]any) {
	t.Helper()
	_, err := store.Apply(t.Context(), target, body("", metadata), publish.ApplyOptions{Manager: "a"})
	require.NoError(t, err)
}

func text(t testing.TB, store *offline.Store) string {
	t.Helper()
	written, err := store.Manifest()
	require.NoError(t, err)
	return string(written)
}

func TestManifestsThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct{ text, message string }{
		"another kind":        {"apiVersion: kargo.akuity.io/v1alpha1\nkind: Project\nmetadata: {name: s3cr3t}", "not a named Stage or Freight of kargo.akuity.io/v1alpha1"},
		"another version":     {"apiVersion: kargo.akuity.io/v1\nkind: Stage\nmetadata: {name: s3cr3t}", "not a named Stage or Freight"},
		"no version":          {"kind: Stage\nmetadata: {name: s3cr3t}", "not a named Stage or Freight"},
		"no name":             {"apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\nmetadata: {generateName: s3cr3t}", "not a named Stage or Freight"},
		"a name of no text":   {"apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\nmetadata: {name: 3}", "not a named Stage or Freight"},
		"metadata of no kind": {"apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\nmetadata: s3cr3t", "not a named Stage or Freight"},
		"a list":              {"- a", "not an object"},
		"nothing":             {"", "empty"},
		"two documents":       {manifest + "---\n" + manifest, "second YAML document"},
		"no YAML":             {"a: [", "line"},
	} {
		_, err := offline.Read([]byte(test.text))
		require.ErrorIs(t, err, fault.Invalid, name)
		require.ErrorContains(t, err, test.message, name)
		require.NotContains(t, err.Error(), "s3cr3t")
	}
}

func TestWhatIsNotWrittenStaysByteForByte(t *testing.T) {
	store := read(t, manifest)
	require.Equal(t, manifest, text(t, store))
	require.False(t, store.Changed())

	apply(t, store, map[string]any{"links": map[string]any{"a": map[string]any{"url": "x"}}})
	require.True(t, store.Changed())
	written := text(t, store)
	before, rest, found := strings.Cut(written, "  managedFields:")
	require.True(t, found)
	require.Equal(t, manifest[:strings.Index(manifest, "\nspec:")], before[:strings.Index(manifest, "\nspec:")])
	_, rest, found = strings.Cut(rest, "\nspec:")
	require.True(t, found)
	require.Equal(t, manifest[strings.Index(manifest, "\nspec:"):]+"  metadata:\n    links:\n      a:\n        url: x\n", "\nspec:"+rest)
	require.NotContains(t, written, "time:")

	again := read(t, written)
	apply(t, again, map[string]any{"links": map[string]any{"a": map[string]any{"url": "x"}}})
	require.False(t, again.Changed())
	require.Equal(t, written, text(t, again))

	apply(t, again, nil)
	withdrawn := text(t, again)
	require.NotContains(t, withdrawn, "links")
	require.Contains(t, withdrawn, "  health: {status: Healthy}   # as seen\n")
}

func TestTimesOfOthersStay(t *testing.T) {
	const other = `  managedFields:
  - {apiVersion: kargo.akuity.io/v1alpha1, fieldsType: FieldsV1, fieldsV1: {"f:status": {"f:health": {}}}, manager: kargo, operation: Update, subresource: status, time: "2026-01-02T03:04:05Z"}
`
	store := read(t, strings.Replace(manifest, "  labels:", other+"  labels:", 1))
	apply(t, store, map[string]any{"links": map[string]any{"a": map[string]any{"url": "x"}}})
	require.Equal(t, 1, strings.Count(text(t, store), "time:"))
	require.Contains(t, text(t, store), "2026-01-02T03:04:05Z")
	apply(t, store, nil)
	require.Contains(t, text(t, store), "health: {status: Healthy}", "who owns leaves alone loses nothing")
}

func TestAJSONManifestStaysJSON(t *testing.T) {
	const source = `{"apiVersion":"kargo.akuity.io/v1alpha1","kind":"Freight","metadata":{"name":"test"},"alias":"a & b"}`
	freight := decode.Target{Kind: "Freight", Namespace: "demo", Name: "test"}
	store := read(t, source)
	live, err := store.Get(t.Context(), freight)
	require.NoError(t, err)
	require.Equal(t, "demo", live.GetNamespace(), "a manifest without a namespace is in any")
	object := body("1", map[string]any{"links": map[string]any{"a": map[string]any{"url": "x"}}})
	object.SetKind("Freight")
	_, err = store.Apply(t.Context(), freight, object, publish.ApplyOptions{Manager: "a"})
	require.NoError(t, err)
	written := text(t, store)
	require.True(t, strings.HasPrefix(written, "{\n"), written)
	require.Contains(t, written, `"a & b"`)
	require.NotContains(t, written, "namespace")
	require.NotContains(t, written, "resourceVersion")
}

func TestAnotherTargetIsNotFound(t *testing.T) {
	store := read(t, manifest)
	for _, other := range []decode.Target{
		{Kind: "Freight", Namespace: "demo", Name: "test"}, {Kind: "Stage", Namespace: "prod", Name: "test"}, {Kind: "Stage", Namespace: "demo", Name: "a"},
	} {
		_, err := store.Get(t.Context(), other)
		require.ErrorIs(t, err, fault.NotFound)
		require.ErrorContains(t, err, other.String()+": the manifest is of another object, Stage demo/test")
		_, err = store.Apply(t.Context(), other, body("", nil), publish.ApplyOptions{Manager: "a"})
		require.ErrorIs(t, err, fault.NotFound)
		_, err = store.Patch(t.Context(), other, []byte("[]"), "a")
		require.ErrorIs(t, err, fault.NotFound)
	}
}

func TestAWriteToAnotherVersionHasChanged(t *testing.T) {
	store := read(t, manifest)
	live, err := store.Get(t.Context(), target)
	require.NoError(t, err)
	require.NotEqual(t, "4711", live.GetResourceVersion())
	require.Equal(t, "4711", store.Object().GetResourceVersion(), "the manifest's own stays")
	content := map[string]any{"links": map[string]any{"a": map[string]any{"url": "x"}}}
	_, err = store.Apply(t.Context(), target, body("9", content), publish.ApplyOptions{Manager: "a"})
	require.ErrorIs(t, err, publish.ErrChanged)
	stored, err := store.Apply(t.Context(), target, body(live.GetResourceVersion(), content), publish.ApplyOptions{Manager: "a"})
	require.NoError(t, err)
	_, err = store.Apply(t.Context(), target, body(live.GetResourceVersion(), nil), publish.ApplyOptions{Manager: "a"})
	require.ErrorIs(t, err, publish.ErrChanged)

	same, err := store.Apply(t.Context(), target, body(stored.GetResourceVersion(), content), publish.ApplyOptions{Manager: "a"})
	require.NoError(t, err)
	require.Equal(t, stored.GetResourceVersion(), same.GetResourceVersion(), "an identical apply writes nothing")

	for _, patch := range []string{
		`[{"op":"test","path":"/metadata/resourceVersion","value":"9"},{"op":"remove","path":"/status/metadata"}]`,
		`[{"op":"remove","path":"/status/metadata/nothing"}]`, `no patch`, `[{"op":"jump"}]`,
	} {
		_, err = store.Patch(t.Context(), target, []byte(patch), "a")
		require.ErrorIs(t, err, publish.ErrChanged, patch)
	}
	patched, err := store.Patch(t.Context(), target,
		fmt.Appendf(nil, `[{"op":"test","path":"/metadata/resourceVersion","value":%q},{"op":"remove","path":"/status/metadata"}]`, stored.GetResourceVersion()), "a")
	require.NoError(t, err)
	require.NotContains(t, patched.Object["status"], "metadata")
	require.NotContains(t, text(t, store), "links")
}

func TestAnApplyIsForcedOnlyWhenItSaysSo(t *testing.T) {
	store := read(t, manifest)
	apply(t, store, map[string]any{"links": map[string]any{"a": map[string]any{"url": "s3cr3t"}}})
	content := map[string]any{"links": map[string]any{"a": map[string]any{"url": "s3cr3t-2"}}}
	_, err := store.Apply(t.Context(), target, body("", content), publish.ApplyOptions{Manager: "b"})
	require.ErrorIs(t, err, fault.Conflict)
	require.NotContains(t, err.Error(), "s3cr3t")
	_, err = store.Apply(t.Context(), target, body("", content), publish.ApplyOptions{Manager: "b", Force: true})
	require.NoError(t, err)
	require.Contains(t, text(t, store), "s3cr3t-2")
}

func TestAnEndedContextDoesNothing(t *testing.T) {
	store := read(t, manifest)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.Get(ctx, target)
	require.ErrorIs(t, err, fault.Timeout)
	require.ErrorIs(t, err, context.Canceled)
	_, err = store.Apply(ctx, target, body("", nil), publish.ApplyOptions{Manager: "a"})
	require.ErrorIs(t, err, fault.Timeout)
	_, err = store.Patch(ctx, target, []byte("[]"), "a")
	require.ErrorIs(t, err, fault.Timeout)
}

func TestWhatAStoreReturnsIsTheCallers(t *testing.T) {
	store := read(t, manifest)
	for range 2 {
		live, err := store.Get(t.Context(), target)
		require.NoError(t, err)
		require.Equal(t, "b", live.GetLabels()["a"])
		live.SetLabels(map[string]string{"a": "c"})
		store.Object().SetLabels(nil)
	}
}
