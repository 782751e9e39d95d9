// Package step runs publish-metadata: it copies or transforms the outputs of a
// Kargo promotion's steps into Stage.status.metadata.<key>, checked against the
// key's JSON Schema, owned by entry, and still there afterwards.
//
// A Runner is made once, with the Client of a cluster or of a manifest, and is
// safe for concurrent use. Run never publishes a part of a request: either
// everything in it is valid and free to be published, or nothing is written.
package step

import (
	"context"
	"errors"
	"time"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/resolve"
	"github.com/kargo-steps/publish-metadata/internal/shape"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Client reads and writes Stages and Freight.
type Client = publish.Client

// Runner runs requests against one Client.
type Runner struct {
	client   Client
	registry *schema.Registry
	settle   time.Duration
	turns    *publish.Turns
}

// Option configures a Runner.
type Option func(*Runner) error

// WithRegistry sets the schemas of the keys; the default knows the well-known keys.
func WithRegistry(registry *schema.Registry) Option {
	return func(r *Runner) error {
		if registry == nil {
			return errors.New("step: the registry is nil")
		}
		r.registry = registry
		return nil
	}
}

// DefaultSettle is how long a publication to a Stage has to hold.
const DefaultSettle = time.Second

// WithSettle sets how long a publication to a Stage has to hold, where its config
// does not say; 0 does not read back at all. The default is DefaultSettle.
func WithSettle(window time.Duration) Option {
	return func(r *Runner) error {
		if window < 0 || window > decode.MaxSettle {
			return errors.New("step: settle is not from 0s to " + decode.MaxSettle.String())
		}
		r.settle = window
		return nil
	}
}

// NewRunner returns a Runner. A nil client allows Preview only.
func NewRunner(client Client, options ...Option) (*Runner, error) {
	r := &Runner{client: client, settle: DefaultSettle, turns: &publish.Turns{}}
	for _, option := range options {
		if err := option(r); err != nil {
			return nil, err
		}
	}
	if r.registry == nil {
		registry, err := schema.NewRegistry()
		if err != nil {
			return nil, err
		}
		r.registry = registry
	}
	return r, nil
}

// With returns a Runner that differs in its client alone, such as one with the
// credentials of a caller. Both write to a target in turn.
func (r *Runner) With(client Client) *Runner {
	other := *r
	other.client = client
	return &other
}

// Run publishes what a request asks for. The error, if any, is an *Error, and the
// Result says the same, with what was done before it. Run ends when ctx does.
func (r *Runner) Run(ctx context.Context, request Request) (Result, error) {
	publication, err := r.prepare(ctx, request)
	if err != nil {
		return FailedResult(err), err
	}
	if r.client == nil {
		err := fault.New(fault.Invalid, "runner", "it has no client to publish with", nil)
		return FailedResult(err), err
	}
	report, err := publish.Publish(ctx, r.client, publication, publish.Options{Settle: r.window(publication), Turns: r.turns})
	return newResult(publication, report, err), err
}

// prepare is everything before publishing: pure, the same for the same request.
// Stages pass on what is sound, and check reports what is wrong in all of them.
func (r *Runner) prepare(ctx context.Context, request Request) (publication check.Publication, err error) {
	job, err := decode.Decode(ctx, r.registry, request.document())
	if err != nil {
		return publication, err
	}
	resolved, err := resolve.Resolve(ctx, job)
	if err != nil {
		return publication, err
	}
	return check.Check(ctx, shape.Shape(resolved))
}

// Preview returns what Run would publish, and what of status.metadata the
// producer would apply, without its provenance. It neither reads nor writes the
// target: what is kept, and who else owns entries, is not known.
func (r *Runner) Preview(ctx context.Context, request Request) (Result, map[string]any, error) {
	publication, err := r.prepare(ctx, request)
	if err != nil {
		return FailedResult(err), nil, err
	}
	metadata := make(map[string]any)
	published := make(map[string][]string)
	for key, content := range publication.Metadata() {
		metadata[key] = content
		published[key] = tree.SortedKeys(content)
	}
	result := newResult(publication, publish.Report{Published: published, Warnings: publication.Warnings()}, nil)
	result.Message = publication.Target().String() + ": would publish " + listing(published)
	return result, metadata, nil
}

// window returns how long a publication has to hold. Kargo patches Freight
// without writing back what it read before, so nothing there is undone.
func (r *Runner) window(publication check.Publication) time.Duration {
	if publication.Target().Kind == "Stage" {
		return publication.Settle(r.settle)
	}
	return publication.Settle(0)
}
