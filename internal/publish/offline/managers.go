package offline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/value"
	projectschema "github.com/kargo-steps/publish-metadata/schema"
)

// readManagers refuses metadata.managedFields that are junk: apimachinery would log
// them, values and all, and go on without. One empty entry means none, as the
// API server takes it.
func readManagers(object *unstructured.Unstructured) error {
	metadata, _ := object.Object["metadata"].(map[string]any)
	encoded, err := value.Marshal(metadata["managedFields"])
	var entries []metav1.ManagedFieldsEntry
	if err == nil {
		err = json.Unmarshal(encoded, &entries)
	}
	if err != nil {
		return fault.New(fault.Invalid, subject, "metadata.managedFields cannot be read: correct or remove them", err)
	}
	if len(entries) == 1 && entries[0] == (metav1.ManagedFieldsEntry{}) {
		object.SetManagedFields(nil)
		return nil
	}
	var problems projectschema.Problems
	for i, entry := range entries {
		if wrong := unreadable(entry); wrong != "" {
			problems.Add(projectschema.Pointer("metadata", "managedFields", strconv.Itoa(i)), "%s: correct or remove the entry", wrong)
		}
	}
	return fault.Of(fault.Invalid, subject, problems)
}

// unreadable says why the field manager cannot read an entry, "" if it can. An
// entry without fieldsV1 owns nothing.
func unreadable(entry metav1.ManagedFieldsEntry) string {
	switch {
	case entry.Operation != metav1.ManagedFieldsOperationApply && entry.Operation != metav1.ManagedFieldsOperationUpdate:
		return "its operation is neither Apply nor Update"
	case entry.APIVersion == "":
		return "it has no apiVersion"
	case entry.FieldsType != "FieldsV1":
		return "its fieldsType is not FieldsV1"
	case entry.FieldsV1 != nil && new(fieldpath.Set).FromJSON(entry.FieldsV1.GetRawReader()) != nil:
		return "its fieldsV1 cannot be read"
	}
	return ""
}

// stampless removes the times that a write gave to managedFields, and orders them
// as the next write will: the same write makes the same manifest at any time.
func stampless(live, stored *unstructured.Unstructured) {
	before := live.GetManagedFields()
	entries := stored.GetManagedFields()
	for i := range entries {
		given := func(entry metav1.ManagedFieldsEntry) bool { return entry.Time.Equal(entries[i].Time) }
		if !slices.ContainsFunc(before, given) {
			entries[i].Time = nil
		}
	}
	slices.SortStableFunc(entries, inOrder)
	stored.SetManagedFields(entries)
}

// inOrder compares as the field manager of apimachinery orders what it writes.
func inOrder(a, b metav1.ManagedFieldsEntry) int {
	seconds := func(entry metav1.ManagedFieldsEntry) int64 {
		if entry.Time == nil {
			return 0
		}
		return entry.Time.Unix()
	}
	return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(seconds(a), seconds(b)),
		cmp.Compare(a.Manager, b.Manager), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Subresource, b.Subresource))
}

// timeless returns the object without the times of its managedFields and their order.
func timeless(object *unstructured.Unstructured) map[string]any {
	copied := object.DeepCopy()
	entries := copied.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	slices.SortStableFunc(entries, inOrder)
	copied.SetManagedFields(entries)
	return copied.Object
}
