package publish

import (
	"fmt"
	"slices"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/schema"
)

// maxStrays is how many strays are named; a list says enough.
const maxStrays = 10

// warnOfStrays names the entries under the plan's keys that no producer and no
// manager applies, such as what set-metadata left: nobody would ever remove them.
func (p *Plan) warnOfStrays(live liveState) {
	more := 0
	for _, key := range tree.SortedKeys(p.Metadata) {
		content, _ := live.metadata[key].(map[string]any)
		for _, name := range tree.SortedKeys(content) {
			place := check.Place{Key: key, Entry: name}
			if !p.isStray(live, place) {
				continue
			}
			if len(p.Warnings) >= maxStrays {
				more++
				continue
			}
			p.Warnings = append(p.Warnings, place.String()+": stands, though no producer publishes it: remove it by hand, or publish it")
		}
	}
	if more > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("and %d more entries that no producer publishes", more))
	}
}

func (p *Plan) isStray(live liveState, place check.Place) bool {
	if _, intended := p.Metadata[place.Key][place.Entry]; intended || place.Key == schema.Provenance || slices.Contains(p.gone, place) {
		return false
	}
	return !slices.ContainsFunc(live.at(place), func(o owner) bool { return o.applies })
}
