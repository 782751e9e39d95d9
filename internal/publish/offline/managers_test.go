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
	for _, none := range []string{"null", "[]", "[{}]"} {
		store := read(t, withManagers(none))
		require.Empty(t, store.Object().GetManagedFields(), none)
		apply(t, store, map[string]any{"links": map[string]any{"a": map[string]any{"url": "x"}}})
		require.Contains(t, text(t, store), "before-first-apply")
	}
}

func withManagers(entries string) string {
	return strings.Replace(manifest, "  labels:", "  managedFields: "+entries+"\n  labels:", 1)
}

func TestEntriesThatAFieldManagerCannotRead(t *testing.T) {
	for entry, message := range map[string]string{
		`{manager: a}`: "its operation is neither Apply nor Update",
		`{manager: a, operation: s3cr3t, apiVersion: v1, fieldsType: FieldsV1}`:                                                   "its operation is neither Apply nor Update",
		`{manager: a, operation: Apply, fieldsType: FieldsV1}`:                                                                    "it has no apiVersion",
		`{manager: a, operation: Apply, apiVersion: kargo.akuity.io/v1alpha1}`:                                                    "its fieldsType is not FieldsV1",
		`{manager: a, operation: Update, apiVersion: kargo.akuity.io/v1alpha1, fieldsType: s3cr3t}`:                               "its fieldsType is not FieldsV1",
		`{manager: a, operation: Update, apiVersion: kargo.akuity.io/v1alpha1, fieldsType: FieldsV1, fieldsV1: {s3cr3t: s3cr3t}}`: "its fieldsV1 cannot be read",
	} {
		_, err := offline.Read([]byte(withManagers("[" + owning + ", " + entry + "]")))
		require.ErrorIs(t, err, fault.Invalid, entry)
		require.EqualError(t, err, "manifest: /metadata/managedFields/1: "+message+": correct or remove the entry")
	}
	store := read(t, withManagers(`[{manager: a, operation: Apply, apiVersion: kargo.akuity.io/v1alpha1, fieldsType: FieldsV1}]`))
	apply(t, store, map[string]any{"links": map[string]any{"a": map[string]any{"url": "x"}}})
}

const owning = `{manager: k, operation: Update, apiVersion: kargo.akuity.io/v1alpha1, fieldsType: FieldsV1, subresource: status, time: "2026-01-02T03:04:05Z", fieldsV1: {"f:status": {"f:metadata": {"f:links": {"f:a": {"f:url": {}}}}}}}`

func TestTheOrderOfManagersDoesNotMatter(t *testing.T) {
	store := read(t, manifest)
	content := func(name string) map[string]any {
		return map[string]any{"links": map[string]any{name: map[string]any{"url": "x"}}}
	}
	for _, name := range []string{"z", "a"} {
		_, err := store.Apply(t.Context(), target, body("", content(name)), publish.ApplyOptions{Manager: name})
		require.NoError(t, err)
	}
	managers := []string{}
	for _, entry := range store.Object().GetManagedFields() {
		managers = append(managers, entry.Manager)
	}
	require.Equal(t, []string{"a", "z", "before-first-apply"}, managers)
	swapped := store.Object()
	entries := swapped.GetManagedFields()
	entries[0], entries[1] = entries[1], entries[0]
	swapped.SetManagedFields(entries)
	source, err := swapped.MarshalJSON()
	require.NoError(t, err)
	again := read(t, string(source))
	_, err = again.Apply(t.Context(), target, body("", content("a")), publish.ApplyOptions{Manager: "a"})
	require.NoError(t, err)
	require.False(t, again.Changed())
	require.Equal(t, string(source), text(t, again))
}

func TestAConflictNamesFieldsAndManagers(t *testing.T) {
	store := read(t, manifest)
	mine, theirs := map[string]any{}, map[string]any{}
	for n := range 25 {
		mine[fmt.Sprintf("e%02d", n)], theirs[fmt.Sprintf("e%02d", n)] = map[string]any{"url": "s3cr3t"}, map[string]any{"url": "s3cr3t-2"}
	}
	apply(t, store, map[string]any{"links": mine})
	_, err := store.Apply(t.Context(), target, body("", map[string]any{"links": theirs}), publish.ApplyOptions{Manager: "b"})
	require.ErrorIs(t, err, fault.Conflict)
	require.ErrorContains(t, err, `Stage demo/test: nothing was published, since others have the fields: .status.metadata.links.e00.url (conflict with "a" with subresource "status"); `)
	require.ErrorContains(t, err, `.e19.url (conflict with "a" with subresource "status"); and 5 more`)
	require.NotContains(t, err.Error(), "s3cr3t")
}
