package stagecontroller

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
)

// Options are how the controller behaves; the zero value makes passes of two
// steps without a pause.
type Options struct {
	// Steps is how many steps a pass has, at least 2; Kargo's has 7.
	Steps int
	// Pass is how long a pass takes on average. Each step takes a random share.
	Pass time.Duration
	// Pause is the time between two passes, 0 to 2*Pause at random.
	Pause time.Duration
	// Seed makes the times repeatable.
	Seed uint64
	// During, if not nil, is called in each step, from 0, before its patch.
	During func(step int)
}

// Controller plays Kargo's Stage controller for one Stage. Counts alone may be
// called while a pass is under way.
type Controller struct {
	stages  dynamic.ResourceInterface
	name    string
	options Options
	random  *rand.Rand

	mu     sync.Mutex
	counts Counts
}

// New returns a controller for a Stage, which need not exist yet. The client
// needs the rights to get stages and to patch stages/status.
func New(client dynamic.Interface, namespace, name string, options Options) *Controller {
	options.Steps = max(options.Steps, 2)
	return &Controller{
		stages:  client.Resource(controlplane.Stages).Namespace(namespace),
		name:    name,
		options: options,
		random:  rand.New(rand.NewPCG(options.Seed, options.Seed)),
	}
}

// Start makes passes until stop is called or the test ends. stop waits for the
// pass that is under way to break off, and returns the counts.
func (c *Controller) Start(t testing.TB) (stop func() Counts) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx)
	}()
	stop = func() Counts {
		cancel()
		<-done
		return c.Counts()
	}
	t.Cleanup(func() { stop() })
	return stop
}

// Run makes passes until ctx ends. A pass that fails is counted and followed by
// the next, as in Kargo.
func (c *Controller) Run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := c.Pass(ctx); err != nil && ctx.Err() == nil {
			c.count(func(counts *Counts) { counts.Failures++; counts.LastFailure = err })
			sleep(ctx, 10*time.Millisecond)
		}
		sleep(ctx, c.atRandom(c.options.Pause))
	}
}

// Pass makes one pass. It returns the error of the API server, or of ctx, that
// ended it early.
func (c *Controller) Pass(ctx context.Context) error {
	stage, err := c.stages.Get(ctx, c.name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("Stage %s: failed to get: %w", c.name, err)
	}
	mine := runtime.DeepCopyJSON(statusOf(stage))
	for step := range c.options.Steps {
		setReconciling(mine, fmt.Sprintf("step %d of pass %d", step, c.Counts().Passes))
		if !sleep(ctx, c.atRandom(c.options.Pass/time.Duration(c.options.Steps))) {
			return ctx.Err()
		}
		if c.options.During != nil {
			c.options.During(step)
		}
		if stage, err = c.patch(ctx, stage, mine); err != nil {
			return err
		}
	}
	setReconciling(mine, "")
	if _, err = c.patch(ctx, stage, mine); err != nil {
		return err
	}
	c.count(func(counts *Counts) { counts.Passes++ })
	return nil
}

// patch sends the difference between what the server last answered and mine,
// whatever stands there by now, and returns the new answer.
func (c *Controller) patch(
	ctx context.Context, answered *unstructured.Unstructured, mine map[string]any,
) (*unstructured.Unstructured, error) {
	base := statusOf(answered)
	patch, err := difference(base, mine)
	if err != nil {
		return nil, fmt.Errorf("Stage %s: failed to compare: %w", c.name, err)
	}
	if len(patch) == 0 {
		return answered, nil
	}
	body, err := json.Marshal(map[string]any{"status": patch})
	if err != nil {
		return nil, fmt.Errorf("Stage %s: failed to encode its patch: %w", c.name, err)
	}
	patched, err := c.stages.Patch(ctx, c.name, types.MergePatchType, body,
		metav1.PatchOptions{FieldManager: controlplane.KargoManager}, "status")
	if err != nil {
		return nil, fmt.Errorf("Stage %s: failed to patch: %w", c.name, err)
	}
	c.count(func(counts *Counts) { counts.addUndone(patch, base) })
	return patched, nil
}

// difference returns the JSON merge patch that makes mine of base.
func difference(base, mine map[string]any) (map[string]any, error) {
	from, err := json.Marshal(base)
	if err != nil {
		return nil, err
	}
	to, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	text, err := jsonpatch.CreateMergePatch(from, to)
	if err != nil {
		return nil, err
	}
	var patch map[string]any
	return patch, json.Unmarshal(text, &patch)
}

// atRandom returns a duration of 0 to twice the mean.
func (c *Controller) atRandom(mean time.Duration) time.Duration {
	return time.Duration(c.random.Int64N(2*int64(mean) + 1))
}

// sleep reports whether the duration passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
