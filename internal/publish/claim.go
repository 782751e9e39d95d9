package publish

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/schema"
)

// MaxMetadata is the largest status.metadata that is written, in bytes of JSON.
// The API server refuses objects over about 1.5 MiB, with an obscure message.
const MaxMetadata = 512 << 10

// claim decides for every entry whether its owners give way.
func (p *Plan) claim(live liveState, publication check.Publication) error {
	var problems schema.Problems
	p.Force = live.cleared
	for _, place := range p.places() {
		content := p.Metadata[place.Key][place.Entry]
		held := tree.Equal(live.entry(place), content) && live.heldBy(publication.Manager(), place)
		for _, owner := range live.at(place) {
			switch {
			case owner.applies && owner.name == publication.Manager():
				continue
			case live.yields(owner, place, publication):
				p.Force = p.Force || !held
				taken := TookOver{Place: place, From: nameOf(owner)}
				if !held && place.Key != schema.Provenance && owner.name != publication.Manager() && !slices.Contains(p.TookOver, taken) {
					p.TookOver = append(p.TookOver, taken)
				}
			default:
				problems.Add("/status/metadata"+schema.Pointer(place.Key, place.Entry), "%s", refusal(owner, live))
			}
		}
	}
	if len(problems) == 0 {
		return nil
	}
	err := &fault.Error{
		Kind: fault.Conflict, Subject: publication.Target().String(), Problems: problems.Sorted(),
		Message: "nothing was published, since entries have other owners (use other names, or onConflict: takeOver)",
	}
	return err
}

// yields says whether an owner other than the publication's gives way. An update
// manager does: it cannot say what it still wants. A producer does when its
// promotion of this very Stage is over, as currentPromotion proves.
func (l liveState) yields(other owner, place check.Place, publication check.Publication) bool {
	if !other.applies || publication.TakesOver(place) {
		return true
	}
	name, ours := other.ours()
	if !ours {
		return false
	}
	context := publication.Context()
	former, known := l.provenances[name]
	return known && publication.OnPromotedStage() && context.Promotion != "" &&
		l.promotion == context.Promotion && former.stage == context.Stage &&
		former.promotion != "" && former.promotion != context.Promotion
}

// heldBy says whether a manager owns an entry by server-side apply.
func (l liveState) heldBy(manager string, place check.Place) bool {
	for _, owner := range l.owners {
		if owner.applies && owner.name == manager && owner.has(place, l.entry(place)) {
			return true
		}
	}
	return false
}

// isForeign tells the owners of an entry for whom it stays, though the publication
// has had it: those that do not give way, and, where the publication's manager has
// no part in the entry any more, all. To give way means to be replaced by what is
// published, not to lose what is one's own.
func (l liveState) isForeign(place check.Place, publication check.Publication) func(owner) bool {
	ours := func(o owner) bool { return o.applies && o.name == publication.Manager() }
	shared := slices.ContainsFunc(l.at(place), ours)
	return func(o owner) bool {
		return o.applies && !ours(o) && (!shared || !l.yields(o, place, publication))
	}
}

// nameOf returns what people call an owner: a producer, or a field manager.
func nameOf(o owner) string {
	if name, ours := o.ours(); ours {
		return name
	}
	return o.name
}

func refusal(o owner, live liveState) string {
	name, ours := o.ours()
	if !ours {
		return fmt.Sprintf("owned by the field manager %s", o.name)
	}
	if promotion := live.provenances[name].promotion; promotion != "" {
		return fmt.Sprintf("owned by the producer %s of promotion %s", name, promotion)
	}
	return fmt.Sprintf("owned by the producer %s", name)
}

// forget notes the entries that the owner does not publish any more. Those that
// another has too stay: they are the other's. What an earlier attempt has forgotten
// is another's only if it applies it: the provenances may be reverted ones.
func (p *Plan) forget(live liveState, former, forgotten []check.Place, publication check.Publication) {
	if _, published := live.provenances[publication.Owner()]; published {
		former = append(former, check.Place{Key: schema.Provenance, Entry: publication.Owner()})
	}
	note := func(place check.Place, owners []owner) {
		_, intended := p.Metadata[place.Key][place.Entry]
		if !intended && !slices.Contains(p.gone, place) && !slices.ContainsFunc(owners, live.isForeign(place, publication)) {
			p.gone = append(p.gone, place)
			if place.Key != schema.Provenance && live.outlasts(place, publication) {
				p.outlast = append(p.outlast, place)
			}
		}
	}
	for _, place := range former {
		note(place, live.at(place))
	}
	for _, place := range forgotten {
		note(place, live.having(place))
	}
}

// outlasts says whether an entry stands when the publication's manager gives it up.
func (l liveState) outlasts(place check.Place, publication check.Publication) bool {
	return l.entry(place) != nil && (l.cleared || slices.ContainsFunc(l.having(place), func(o owner) bool {
		return !o.applies || o.name != publication.Manager()
	}))
}

// sheltering returns the keys that the owner has to go on applying, without
// entries: whoever merely adds to an object does not own the object itself, and
// loses what it has added when the last manager who owns that gives it up.
func (p *Plan) sheltering(live liveState, publication check.Publication) []string {
	var keys []string
	for _, key := range tree.SortedKeys(live.metadata) {
		entries, isMap := live.metadata[key].(map[string]any)
		if _, applied := p.Metadata[key]; applied || !isMap {
			continue
		}
		remaining := len(entries)
		for _, place := range p.gone {
			if _, stands := entries[place.Entry]; stands && place.Key == key {
				remaining--
			}
		}
		ours, others := false, false
		for _, owner := range live.owners {
			isOurs := owner.applies && owner.name == publication.Manager()
			ours = ours || isOurs && owner.hasKey(key)
			others = others || !isOurs && owner.hasKey(key)
		}
		if remaining > 0 && ours && !others {
			keys = append(keys, key)
		}
	}
	return keys
}

// fits refuses a plan whose status.metadata would be too large, unless it is so
// already and does not grow: withdrawing has to be possible.
func (p *Plan) fits(live liveState, subject string) error {
	result := make(map[string]any, len(live.metadata))
	for key, content := range live.metadata {
		result[key] = content
		if entries, isMap := content.(map[string]any); isMap {
			result[key] = maps.Clone(entries)
		}
	}
	for _, place := range p.gone {
		if entries, isMap := result[place.Key].(map[string]any); isMap {
			delete(entries, place.Entry)
		}
	}
	for key, content := range p.Metadata {
		entries, isMap := result[key].(map[string]any)
		if !isMap {
			entries = make(map[string]any, len(content))
			result[key] = entries
		}
		maps.Copy(entries, content)
	}
	if size := value.Size(result); size > MaxMetadata && size > value.Size(live.metadata) {
		return fault.New(fault.TooLarge, subject, fmt.Sprintf(
			"status.metadata would have %d bytes, more than %d: publish less, or withdraw what is not used", size, MaxMetadata), nil)
	}
	return nil
}
