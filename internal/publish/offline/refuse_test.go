package offline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
)

// That an API server does the same is checked by the integration tests.
func TestAMetadataThatIsNoObjectIsRefused(t *testing.T) {
	links := map[string]any{"links": map[string]any{"a": map[string]any{"url": "x"}}}
	for message, metadata := range map[string]any{
		"status.metadata would be null, which is refused: it has to be an object": map[string]any{},
		"what would be applied does not fit the manifest":                         []any{"s3cr3t"},
	} {
		store := read(t, manifest)
		apply(t, store, links)
		before := text(t, store)
		object := body("", nil)
		object.Object["status"] = map[string]any{"metadata": metadata}
		_, err := store.Apply(t.Context(), target, object, publish.ApplyOptions{Manager: "a", Force: true})
		require.ErrorIs(t, err, fault.Invalid, message)
		require.EqualError(t, err, "Stage demo/test: "+message)
		require.Equal(t, before, text(t, store))
	}
	store := read(t, manifest)
	_, err := store.Patch(t.Context(), target, []byte(`[{"op":"add","path":"/status/metadata","value":"s3cr3t"}]`), "a")
	require.EqualError(t, err, "Stage demo/test: status.metadata would be a string, which is refused: it has to be an object")
	_, err = store.Patch(t.Context(), target, []byte(`[{"op":"add","path":"/status/metadata","value":null}]`), "a")
	require.NoError(t, err)
	require.False(t, store.Changed(), "null is dropped")
}

func TestNullsOfAManifestAreNothing(t *testing.T) {
	start := strings.Index(manifest, "status:")
	for name, status := range map[string]string{
		"no status": "", "a null status": "status:\n", "a null metadata": "status:\n  metadata:\n", "a null key": "status:\n  metadata:\n    links:\n",
	} {
		t.Run(name, func(t *testing.T) {
			source := manifest[:start] + status
			store := read(t, source)
			_, stands, err := unstructured.NestedMap(store.Object().Object, "status", "metadata", "links")
			require.NoError(t, err)
			require.False(t, stands)
			apply(t, store, nil)
			_, err = store.Apply(t.Context(), target, body("", map[string]any{"links": map[string]any{"a": map[string]any{"url": "x"}}}), publish.ApplyOptions{Manager: "a", Force: true})
			require.NoError(t, err)
			require.Contains(t, text(t, store), "links:\n      a:\n        url: x\n")
		})
	}
}

func TestAStatusThatIsLeftEmptyGoes(t *testing.T) {
	for _, source := range []string{manifest[:strings.Index(manifest, "status:")], `{"apiVersion":"kargo.akuity.io/v1alpha1","kind":"Stage","metadata":{"name":"test"}}`} {
		store := read(t, source)
		apply(t, store, map[string]any{"links": map[string]any{"a": map[string]any{"url": "x"}}})
		again := read(t, text(t, store))
		apply(t, again, nil)
		require.NotContains(t, text(t, again), "\nstatus")
		require.NotContains(t, text(t, again), `"status": {`)
		require.NotContains(t, again.Object().Object, "status")
	}
}
