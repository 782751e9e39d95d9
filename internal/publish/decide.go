package publish

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Plan is what a publication does to a target as it was read.
type Plan struct {
	// Metadata is key -> entry -> value that the owner applies, provenance included.
	Metadata map[string]map[string]any
	// Force says that somebody gives way.
	Force    bool
	TookOver []TookOver
	Warnings []string
	// gone are entries that the owner published before and does not any more.
	gone []check.Place
	// outlast are those of gone that an apply would leave, since somebody else has
	// them too.
	outlast []check.Place
	body    *unstructured.Unstructured
}

// Memory is what a publication knows from its earlier attempts, which have
// replaced the provenance that they decided by.
type Memory struct {
	applied bool
	kept    map[string]map[string]any
	gone    []check.Place
}

// Decide returns the plan for a target as it was read. It is pure: no network, no
// clock. The error is a *fault.Error: Conflict with a problem for each entry that
// somebody else owns, Invalid for a kept entry that breaks its schema, TooLarge.
func Decide(target *unstructured.Unstructured, publication check.Publication, memory Memory) (Plan, error) {
	subject := publication.Target().String()
	live, err := readLive(target, subject)
	if err != nil {
		return Plan{}, err
	}
	former := live.provenances[publication.Owner()]
	if err := publishedTwice(former, publication); err != nil {
		return Plan{}, err
	}
	plan := Plan{Metadata: maps.Clone(publication.Metadata())}
	if memory.applied {
		maps.Copy(plan.Metadata, memory.kept)
	} else if err := plan.keep(live, former, publication); err != nil {
		return Plan{}, err
	}
	if provenance := plan.provenance(publication); provenance != nil {
		plan.Metadata[schema.Provenance] = map[string]any{publication.Owner(): provenance}
	}
	if err := plan.claim(live, publication); err != nil {
		return Plan{}, err
	}
	plan.forget(live, former.places(), memory.gone, publication)
	plan.warnOfStrays(live)
	if err := plan.fits(live, subject); err != nil {
		return Plan{}, err
	}
	plan.compose(publication, target.GetResourceVersion(), plan.sheltering(live, publication))
	return plan, nil
}

// publishedTwice refuses a second step of one promotion with the same producer:
// it would withdraw what the first has published.
func publishedTwice(former provenance, publication check.Publication) error {
	context := publication.Context()
	if former.promotion == "" || former.promotion != context.Promotion || former.stage != context.Stage ||
		former.step == context.Step {
		return nil
	}
	return fault.New(fault.Conflict, publication.Target().String(), "the producer "+publication.Owner()+
		" has already published in this promotion, by step "+former.step+": give one of the steps another producer", nil)
}

// keep adds what the owner has published under keys that stay as they are.
func (p *Plan) keep(live liveState, former provenance, publication check.Publication) error {
	for _, key := range publication.Keep() {
		kept := make(map[string]any)
		for _, name := range former.entries[key] {
			place := check.Place{Key: key, Entry: name}
			entry := live.entry(place)
			if entry == nil || slices.ContainsFunc(live.at(place), live.isForeign(place, publication)) {
				p.Warnings = append(p.Warnings, place.String()+": not kept, since somebody else has removed it or taken it over")
				continue
			}
			kept[name] = entry
		}
		if len(kept) == 0 {
			continue
		}
		if err := publication.Recheck(key, kept); err != nil {
			return err
		}
		p.Metadata[key] = kept
	}
	return nil
}

// provenance returns what is published and by what; nil when nothing is.
func (p *Plan) provenance(publication check.Publication) map[string]any {
	entries := make(map[string]any)
	for key, content := range p.Metadata {
		var names []any
		for _, name := range tree.SortedKeys(content) {
			names = append(names, name)
		}
		entries[key] = names
	}
	if len(entries) == 0 {
		return nil
	}
	context := publication.Context()
	document := map[string]any{"stage": context.Stage, "entries": entries}
	for name, text := range map[string]string{
		"promotion": context.Promotion, "freight": context.Freight, "step": context.Step, "actor": context.Actor,
	} {
		if text != "" {
			document[name] = text
		}
	}
	if context.Rollback {
		document["rollback"] = true
	}
	return document
}

// places returns every entry of the plan, in canonical order.
func (p Plan) places() []check.Place {
	var places []check.Place
	for _, key := range tree.SortedKeys(p.Metadata) {
		for _, name := range tree.SortedKeys(p.Metadata[key]) {
			places = append(places, check.Place{Key: key, Entry: name})
		}
	}
	return places
}

// Published returns key -> names of the entries, provenance left out.
func (p Plan) Published() map[string][]string {
	published := make(map[string][]string)
	for _, place := range p.places() {
		if place.Key != schema.Provenance {
			published[place.Key] = append(published[place.Key], place.Entry)
		}
	}
	return published
}

// standing returns key -> names of the plan's entries that stand as they were
// applied, provenance left out.
func (p Plan) standing(metadata map[string]any) map[string][]string {
	published := p.Published()
	for key, names := range published {
		published[key] = slices.DeleteFunc(names, func(name string) bool {
			return !tree.Equal(entryOf(metadata, check.Place{Key: key, Entry: name}), p.Metadata[key][name])
		})
		if len(published[key]) == 0 {
			delete(published, key)
		}
	}
	return published
}

// compose makes the body to apply: the identity, the resourceVersion that was
// read, and status.metadata. With nothing to apply, status is left out: an empty
// metadata is refused by the API server, and an empty key stays for ever, unless it
// shelters what others have in it.
func (p *Plan) compose(publication check.Publication, version string, sheltering []string) {
	target := publication.Target()
	p.body = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": APIVersion,
		"kind":       target.Kind,
		"metadata":   map[string]any{"name": target.Name, "namespace": target.Namespace, "resourceVersion": version},
	}}
	metadata := make(map[string]any, len(p.Metadata))
	for key, content := range p.Metadata {
		metadata[key] = content
	}
	for _, key := range sheltering {
		metadata[key] = map[string]any{}
	}
	if len(metadata) > 0 {
		p.body.Object["status"] = map[string]any{"metadata": metadata}
	}
}

// remember returns what further attempts have to know once the plan was applied.
func (p Plan) remember(memory Memory, publication check.Publication) Memory {
	if !memory.applied {
		memory.kept = make(map[string]map[string]any)
		for _, key := range publication.Keep() {
			if content, kept := p.Metadata[key]; kept {
				memory.kept[key] = content
			}
		}
	}
	return Memory{applied: true, kept: memory.kept, gone: p.gone}
}
