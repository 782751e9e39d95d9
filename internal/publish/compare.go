package publish

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/schema"
)

// metadataOf returns an object's status.metadata; nil when it has none.
func metadataOf(object *unstructured.Unstructured) map[string]any {
	status, _ := object.Object["status"].(map[string]any)
	metadata, _ := status["metadata"].(map[string]any)
	return metadata
}

// holds says whether the target has what the plan intends, and nothing of what
// it has withdrawn.
func (p Plan) holds(target *unstructured.Unstructured) bool {
	metadata := metadataOf(target)
	for _, place := range p.places() {
		if !tree.Equal(entryOf(metadata, place), p.Metadata[place.Key][place.Entry]) {
			return false
		}
	}
	return len(p.removals(metadata)) == 0
}

// residue returns a JSON Patch that removes what stands though the plan does not
// have it, or nil. It is bound to the target's resourceVersion.
func (p Plan) residue(target *unstructured.Unstructured) []byte {
	return removal(target, p.removals(metadataOf(target)))
}

// first returns a JSON Patch that removes, before an apply, what the apply would
// leave of the entries that are gone, or nil. Only while the provenance still lists
// them would a further run know of them, should this one end in between. When
// nothing is left to apply, all that is gone is removed first: the apply would turn
// a metadata that others have a part of into null, which the API server refuses.
func (p Plan) first(target *unstructured.Unstructured, memory Memory) []byte {
	if len(p.Metadata) == 0 {
		return removal(target, p.removals(metadataOf(target)))
	}
	if memory.applied {
		return nil
	}
	var paths []string
	for _, place := range p.outlast {
		paths = append(paths, "/status/metadata"+schema.Pointer(place.Key, place.Entry))
	}
	return removal(target, paths)
}

// removal returns the JSON Patch that removes the paths from the target as it was
// read; nil for none.
func removal(target *unstructured.Unstructured, paths []string) []byte {
	if len(paths) == 0 {
		return nil
	}
	patch := []any{map[string]any{"op": "test", "path": "/metadata/resourceVersion", "value": target.GetResourceVersion()}}
	for _, path := range paths {
		patch = append(patch, map[string]any{"op": "remove", "path": path})
	}
	document, err := value.Marshal(patch)
	if err != nil {
		return nil // strings alone always marshal
	}
	return document
}

// removals returns the JSON Pointers of residue: leaves in the plan's entries
// that it does not have, entries that are gone, and what is left empty by that.
func (p Plan) removals(metadata map[string]any) []string {
	const root = "/status/metadata"
	var paths []string
	for _, place := range p.places() {
		at := root + schema.Pointer(place.Key, place.Entry)
		paths = append(paths, extra(entryOf(metadata, place), p.Metadata[place.Key][place.Entry], at)...)
	}
	left := make(map[string]int, len(metadata))
	for key, content := range metadata {
		entries, _ := content.(map[string]any)
		left[key] = len(entries)
	}
	var gone []check.Place
	for _, place := range p.gone {
		if hasEntry(metadata, place) {
			gone = append(gone, place)
			left[place.Key]--
		}
	}
	empty := 0
	stubs := make(map[string]bool)
	for _, place := range p.gone {
		content, stands := metadata[place.Key]
		if _, isMap := content.(map[string]any); content != nil && !isMap {
			continue // somebody else's, in the place of the key
		}
		if stands && left[place.Key] == 0 && !stubs[place.Key] {
			stubs[place.Key] = true
			empty++
		}
	}
	if len(p.gone) > 0 && metadata != nil && empty == len(metadata) {
		return append(paths, root)
	}
	for _, place := range gone {
		if !stubs[place.Key] {
			paths = append(paths, root+schema.Pointer(place.Key, place.Entry))
		}
	}
	for _, key := range tree.SortedKeys(stubs) {
		paths = append(paths, root+schema.Pointer(key))
	}
	return paths
}

func hasEntry(metadata map[string]any, place check.Place) bool {
	content, _ := metadata[place.Key].(map[string]any)
	_, stands := content[place.Entry]
	return stands
}

// extra returns the pointers of what stands in an object though it is not intended.
func extra(stands, intended any, at string) []string {
	there, isObject := stands.(map[string]any)
	wanted, wantsObject := intended.(map[string]any)
	if !isObject || !wantsObject {
		return nil
	}
	var paths []string
	for _, name := range tree.SortedKeys(there) {
		if _, known := wanted[name]; !known {
			paths = append(paths, at+schema.Pointer(name))
			continue
		}
		paths = append(paths, extra(there[name], wanted[name], at+schema.Pointer(name))...)
	}
	return paths
}
