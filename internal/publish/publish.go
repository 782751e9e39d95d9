// Package publish is the fifth stage: it brings a checked publication into the
// target's status.metadata and sees that it stays there.
//
// In: a check.Publication and a Client. Out: a Report. Read, decide, apply,
// compare and settle are the steps of design note publish.md; deciding and
// comparing are pure. Whatever happens, the Report says what was done.
package publish

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// Report says what a publication did.
type Report struct {
	// Published is key -> names of the owner's entries, sorted.
	Published map[string][]string
	// Changed says that the target was not so before.
	Changed bool
	// Reasserted counts how often the publication was undone and done again.
	Reasserted int
	// TookOver are the entries that others had, sorted.
	TookOver []TookOver
	Warnings []string
}

// TookOver is an entry that was somebody else's.
type TookOver struct {
	Place check.Place
	// From is the producer, or the field manager, that had it.
	From string
}

// maxAttempts ends a publication whose context has no deadline.
const maxAttempts = 500

// run is one publication on its way.
type run struct {
	Options
	client      Client
	publication check.Publication
	guard       guard
	// undone says that the publication was read back and did not hold.
	undone bool
	// removals counts the patches since the publication was last read back.
	removals int
	memory   Memory
	// last is the plan that was applied last.
	last   Plan
	report Report
}

// Options are how a publication is done.
type Options struct {
	// Settle is how long it has to hold; 0 does not read it back.
	Settle time.Duration
	// Turns are those of the process; nil waits for nobody.
	Turns *Turns
}

// Publish publishes until the publication holds for the settle window, or ctx
// ends. The error is a *fault.Error; the Report is valid with an error too.
func Publish(ctx context.Context, client Client, publication check.Publication, options Options) (Report, error) {
	r := &run{Options: options, client: client, publication: publication}
	if r.Turns == nil {
		r.Turns = &Turns{}
	}
	r.report.Warnings = publication.Warnings()
	pauses := 0
	for range maxAttempts {
		held, err := r.attempt(ctx)
		switch {
		case held:
			return r.report, nil
		case errors.Is(err, ErrChanged), err == nil && r.removals > 2: // somebody puts residue back
			err = pause(ctx, backoff(pauses))
			pauses++
		}
		if err != nil {
			return r.report, r.ended(ctx, err)
		}
	}
	return r.report, r.fault(fault.NotSettled, "others kept changing it: try again", nil)
}

// attempt reads, decides, applies, compares and settles once. It returns false
// and no error when the publication has to be attempted anew.
func (r *run) attempt(ctx context.Context) (held bool, err error) {
	plan, stored, err := r.write(ctx)
	if err != nil || stored == nil {
		return false, err
	}
	return r.settled(ctx, plan, stored)
}

// write reads, decides, applies and compares. stored is nil when there was
// something to remove: once it is, another attempt has to find nothing.
func (r *run) write(ctx context.Context) (plan Plan, stored *unstructured.Unstructured, err error) {
	done, err := r.Turns.take(ctx, r.publication.Target())
	if err != nil {
		return plan, nil, err
	}
	defer done()
	live, err := r.read(ctx)
	if err != nil {
		return plan, nil, err
	}
	plan, err = Decide(live, r.publication, r.memory)
	if err != nil {
		return plan, nil, r.orLost(err, live)
	}
	if patch := plan.first(live, r.memory); patch != nil {
		err := r.remove(ctx, patch)
		if err == nil {
			r.memory.gone = plan.gone
		}
		return plan, nil, err
	}
	stored, err = r.client.Apply(ctx, r.publication.Target(), plan.body, ApplyOptions{Manager: r.publication.Manager(), Force: plan.Force})
	if errors.Is(err, fault.Conflict) {
		err = r.orChanged(ctx, err, live.GetResourceVersion())
	}
	if err != nil {
		return plan, nil, err
	}
	residue := plan.residue(stored)
	r.record(plan, residue != nil || r.removals > 0 || live.GetResourceVersion() != stored.GetResourceVersion())
	if residue != nil {
		return plan, nil, r.remove(ctx, residue)
	}
	if !plan.holds(stored) {
		return plan, nil, r.fault(fault.Unavailable, "what the API server stored is not what was applied: try again", nil)
	}
	return plan, stored, nil
}

// remove sends a JSON Patch that removes residue.
func (r *run) remove(ctx context.Context, patch []byte) error {
	_, err := r.client.Patch(ctx, r.publication.Target(), patch, r.publication.Manager())
	if err == nil {
		r.report.Changed, r.guard.wrote = true, true
		r.removals++
	}
	return err
}

// orChanged returns ErrChanged for a conflict over fields that somebody got
// after the target was read: the API server looks for owners in the object as it
// is, and at the resourceVersion only then.
func (r *run) orChanged(ctx context.Context, conflict error, version string) error {
	live, err := r.read(ctx)
	switch {
	case err != nil:
		return err
	case live.GetResourceVersion() != version:
		return ErrChanged
	}
	return conflict
}

// record notes in the report what an apply did.
func (r *run) record(plan Plan, changed bool) {
	r.report.Published = plan.Published()
	r.report.Changed = r.report.Changed || changed
	if r.undone && changed {
		r.report.Reasserted++
	}
	r.undone = false
	if !r.memory.applied {
		r.report.TookOver = plan.TookOver
		r.report.Warnings = append(r.report.Warnings, plan.Warnings...)
	}
	r.memory, r.last, r.guard.wrote = plan.remember(r.memory, r.publication), plan, true
}

// orLost says of a conflict that comes up after the publication was applied what
// it is: others took entries over meanwhile. The rest stands, and is reported.
func (r *run) orLost(err error, live *unstructured.Unstructured) error {
	var failure *fault.Error
	if !r.memory.applied || !errors.As(err, &failure) || len(failure.Problems) == 0 || failure.Kind != fault.Conflict {
		return err
	}
	r.report.Published = r.last.standing(metadataOf(live))
	lost := *failure
	lost.Message = "it was published, but others have taken entries over before it had held"
	return &lost
}

// ended returns the error of a publication: when ctx has ended, that is why,
// unless no retry can help.
func (r *run) ended(ctx context.Context, err error) error {
	var failure *fault.Error
	if ctx.Err() == nil || errors.As(err, &failure) && !failure.Kind.Retryable() {
		return err
	}
	switch {
	case r.report.Published == nil:
		return r.fault(fault.Timeout, "the deadline passed before anything was published: try again", ctx.Err())
	case r.Settle > 0:
		return r.fault(fault.NotSettled, "it was published, but the deadline passed before it had held for "+r.Settle.String()+": try again", ctx.Err())
	}
	return r.fault(fault.Timeout, "the deadline passed before the publication was complete: try again", ctx.Err())
}

func (r *run) fault(kind fault.Kind, message string, cause error) error {
	return fault.New(kind, r.publication.Target().String(), message, cause)
}

// backoff returns how long to wait after the nth time that the target had
// changed, from 0: at random, and longer each time, so that producers that write
// at once spread until one is through before the next reads.
func backoff(n int) time.Duration {
	const first, most = 8 * time.Millisecond, time.Second
	return rand.N(min(first<<min(n, 10), most))
}

// pause waits, or returns the context's error when that ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
