package publish

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/schema"
)

// guard is what a run knows of its target from earlier reads.
type guard struct {
	uid string
	// wasCurrent says that the Stage's currentPromotion was the run's own.
	wasCurrent bool
	// before is the promotion of the owner's provenance before the run wrote.
	before string
	wrote  bool
}

// read gets the target and sees that it still is the one to publish to.
func (r *run) read(ctx context.Context) (*unstructured.Unstructured, error) {
	live, err := r.client.Get(ctx, r.publication.Target())
	if err != nil {
		return nil, err
	}
	if r.guard.uid == "" {
		r.guard.uid = string(live.GetUID())
	}
	if r.guard.uid != string(live.GetUID()) {
		return nil, r.fault(fault.NotFound, "it was deleted, and created anew, during the publication: promote again", nil)
	}
	if promotion := r.publication.Context().Promotion; promotion != "" {
		return live, r.superseded(live, promotion)
	}
	return live, nil
}

// superseded refuses to go on for a promotion that another has followed, so that
// the two do not fight. The Stage's currentPromotion tells; where it does not, on
// another target or outside of Kargo, the owner's provenance does, once a promotion
// has applied it that is neither this run's nor the one from before. What an update
// manager has put there is a write that is undone, however old it is.
func (r *run) superseded(live *unstructured.Unstructured, promotion string) error {
	current := currentPromotion(live)
	if r.publication.OnPromotedStage() && (current != "" || r.guard.wasCurrent) {
		r.guard.wasCurrent = current == promotion
		if current == promotion {
			return nil
		}
		return r.fault(fault.Superseded, "promotion "+promotion+" is not its current one: it was aborted or is over, and nothing more is published", nil)
	}
	producer := r.publication.Owner()
	published, _, _ := unstructured.NestedString(live.Object, "status", "metadata", schema.Provenance, producer, "promotion")
	if !r.guard.wrote {
		r.guard.before = published
	}
	if published == "" || published == promotion || published == r.guard.before {
		return nil
	}
	state, err := readLive(live, r.publication.Target().String())
	applied := func(o owner) bool {
		return o.applies && o.name == r.publication.Manager() && o.hasLeaf(schema.Provenance, producer, "promotion")
	}
	if err != nil || !slices.ContainsFunc(state.owners, applied) {
		return err
	}
	return r.fault(fault.Superseded, "the producer "+producer+" has published in promotion "+published+
		" meanwhile: promotion "+promotion+" publishes nothing more", nil)
}

// currentPromotion returns the name of the promotion that the Stage runs, or "".
func currentPromotion(live *unstructured.Unstructured) string {
	name, _, _ := unstructured.NestedString(live.Object, "status", "currentPromotion", "name")
	return name
}
