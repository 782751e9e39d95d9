package offline_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
)

func TestManagersAtOnceLoseNothing(t *testing.T) {
	store := read(t, manifest)
	var group sync.WaitGroup
	for n := range 20 {
		group.Go(func() {
			name := fmt.Sprintf("m%d", n)
			_, errApply := store.Apply(t.Context(), target, body("", map[string]any{"links": map[string]any{name: map[string]any{"url": name}}}), publish.ApplyOptions{Manager: name})
			_, errText := store.Manifest()
			assert.NoError(t, errors.Join(errApply, errText))
		})
	}
	group.Wait()
	links, _, _ := unstructured.NestedMap(store.Object().Object, "status", "metadata", "links")
	require.Len(t, links, 20)
}

func TestJunkInManagedFieldsIsRefused(t *testing.T) {
	for _, junk := range []string{"s3cr3t", "[s3cr3t]", "[{manager: a, operation: Apply, time: s3cr3t}]", "3", "{}"} {
		_, err := offline.Read([]byte(strings.Replace(manifest, "  labels:", "  managedFields: "+junk+"\n  labels:", 1)))
		require.ErrorIs(t, err, fault.Invalid, junk)
		require.ErrorContains(t, err, "manifest: metadata.managedFields cannot be read")
		require.NotContains(t, err.Error(), "s3cr3t")
	}
	for _, none := range []string{"null", "[]"} {
		_, err := offline.Read([]byte(strings.Replace(manifest, "  labels:", "  managedFields: "+none+"\n  labels:", 1)))
		require.NoError(t, err)
	}
}
