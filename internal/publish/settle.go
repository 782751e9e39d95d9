package publish

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// reads is how often a publication is read back over its settle window.
const reads = 4

// settled reads the target back over the settle window. It returns false when
// the publication does not hold: then it has to be attempted anew. Kargo's Stage
// controller writes back a copy of the status that it read before the
// publication, and nothing says when it has done so: only the window tells.
func (r *run) settled(ctx context.Context, plan Plan, stored *unstructured.Unstructured) (bool, error) {
	r.removals = 0
	if r.Settle <= 0 {
		return true, nil
	}
	version := stored.GetResourceVersion()
	for range reads {
		if err := pause(ctx, max(r.Settle/reads, time.Millisecond)); err != nil {
			return false, err
		}
		live, err := r.read(ctx)
		if err != nil {
			return false, err
		}
		if live.GetResourceVersion() == version {
			continue
		}
		version = live.GetResourceVersion()
		if !plan.holds(live) {
			r.undone = true
			return false, nil
		}
	}
	return true, nil
}
