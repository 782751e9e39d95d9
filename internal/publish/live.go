package publish

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/schema"
)

// liveState is what a decision needs to know of the target.
type liveState struct {
	// metadata is status.metadata; not to be changed.
	metadata    map[string]any
	owners      []owner
	provenances map[string]provenance
	// promotion is the name of status.currentPromotion, or "".
	promotion string
	// cleared says that managedFields are empty. The API server then ascribes
	// all that stands to an update manager of its own, before-first-apply.
	cleared bool
}

// provenance is who published what, as status.metadata.provenance.<owner> has it.
type provenance struct {
	stage, promotion, step string
	// entries is key -> names.
	entries map[string][]string
}

func readLive(live *unstructured.Unstructured, subject string) (liveState, error) {
	state := liveState{promotion: currentPromotion(live), provenances: make(map[string]provenance)}
	status, _ := live.Object["status"].(map[string]any)
	content, isObject := status["metadata"].(map[string]any)
	if !isObject && status["metadata"] != nil {
		return state, fault.New(fault.Invalid, subject, "status.metadata is not an object: correct it by hand", nil)
	}
	state.metadata = content
	owners, err := ownersOf(live)
	if err != nil {
		return state, fault.New(fault.Invalid, subject, "metadata.managedFields cannot be read: correct or remove them", err)
	}
	state.owners, state.cleared = owners, len(live.GetManagedFields()) == 0
	all, _ := content[schema.Provenance].(map[string]any)
	for name, document := range all {
		if fields, isObject := document.(map[string]any); isObject {
			state.provenances[name] = readProvenance(fields)
		}
	}
	return state, nil
}

// readProvenance ignores what has another type: others may write there too.
func readProvenance(document map[string]any) provenance {
	p := provenance{entries: make(map[string][]string)}
	p.stage, _ = document["stage"].(string)
	p.promotion, _ = document["promotion"].(string)
	p.step, _ = document["step"].(string)
	entries, _ := document["entries"].(map[string]any)
	for key, names := range entries {
		list, _ := names.([]any)
		for _, name := range list {
			if text, isString := name.(string); isString && key != schema.Provenance {
				p.entries[key] = append(p.entries[key], text)
			}
		}
	}
	return p
}

// places returns the entries that a provenance lists, in canonical order.
func (p provenance) places() []check.Place {
	var places []check.Place
	for _, key := range tree.SortedKeys(p.entries) {
		for _, name := range slices.Sorted(slices.Values(p.entries[key])) {
			places = append(places, check.Place{Key: key, Entry: name})
		}
	}
	return places
}

// entry returns the live value of an entry, or nil.
func (l liveState) entry(place check.Place) any {
	return entryOf(l.metadata, place)
}

func entryOf(metadata map[string]any, place check.Place) any {
	content, _ := metadata[place.Key].(map[string]any)
	return content[place.Entry]
}
