package publish_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
)

var target = decode.Target{Kind: "Stage", Namespace: "demo", Name: "test"}

// stub is a Client to a manifest, with somebody else who acts around its calls.
// An action gets the number of the call of its kind, from 1.
type stub struct {
	*offline.Store
	get, apply, patch        func(n int) error
	stored                   func(n int, object *unstructured.Unstructured)
	seen                     func(object *unstructured.Unstructured)
	gotten, applied, patched int
}

func act(action func(int) error, count *int) error {
	*count++
	if action == nil {
		return nil
	}
	return action(*count)
}

func (s *stub) Get(ctx context.Context, target decode.Target) (*unstructured.Unstructured, error) {
	if err := act(s.get, &s.gotten); err != nil {
		return nil, err
	}
	live, err := s.Store.Get(ctx, target)
	if err == nil && s.seen != nil {
		s.seen(live)
	}
	return live, err
}

func (s *stub) Apply(ctx context.Context, target decode.Target, body *unstructured.Unstructured, options publish.ApplyOptions) (*unstructured.Unstructured, error) {
	if err := act(s.apply, &s.applied); err != nil {
		return nil, err
	}
	stored, err := s.Store.Apply(ctx, target, body, options)
	if err == nil && s.stored != nil {
		s.stored(s.applied, stored)
	}
	return stored, err
}

func (s *stub) Patch(ctx context.Context, target decode.Target, patch []byte, manager string) (*unstructured.Unstructured, error) {
	if err := act(s.patch, &s.patched); err != nil {
		return nil, err
	}
	return s.Store.Patch(ctx, target, patch, manager)
}

func newStub(t testing.TB, status string) *stub {
	t.Helper()
	store, err := offline.Read([]byte("apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\nmetadata: {name: test, namespace: demo, uid: one}\nspec: {}\nstatus: " + status + "\n"))
	require.NoError(t, err)
	return &stub{Store: store}
}

// revert writes a status back as Kargo's controller does.
func (s *stub) revert(t testing.TB, operations string) {
	t.Helper()
	tree, err := document.Parse([]byte(operations))
	require.NoError(t, err)
	encoded, err := (&unstructured.Unstructured{Object: map[string]any{"kind": "x", "patch": tree}}).MarshalJSON()
	require.NoError(t, err)
	_, err = s.Store.Patch(t.Context(), target, encoded[len(`{"kind":"x","patch":`):len(encoded)-2], "kargo-controller")
	require.NoError(t, err)
}

func (s *stub) links() any {
	links, _, _ := unstructured.NestedFieldNoCopy(s.Object().Object, "status", "metadata", "links")
	return links
}

const (
	current = "{currentPromotion: {name: test.02}}"
	config  = `{metadata: [{key: links, value: {a: {url: "https://a.example.com"}}}]}`
)

var link = map[string]any{"a": map[string]any{"url": "https://a.example.com"}}

func run(ctx context.Context, t testing.TB, client publish.Client, config string, settle time.Duration) (publish.Report, error) {
	return publish.Publish(ctx, client, publish.NewPublication(t, config), publish.Options{Settle: settle, Turns: &publish.Turns{}})
}

func TestATargetThatChangesIsReadAndDecidedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newStub(t, current)
		client.apply = func(n int) error {
			if n <= 20 {
				return fmt.Errorf("wrapped: %w", publish.ErrChanged)
			}
			return nil
		}
		report, err := run(t.Context(), t, client, config, 0)
		require.NoError(t, err)
		require.Equal(t, 21, client.applied)
		require.Equal(t, 21, client.gotten)
		require.Equal(t, link, client.links())
		require.Zero(t, report.Reasserted)
		require.True(t, report.Changed)
	})
}

func TestATargetThatNeverRestsEndsAPublication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newStub(t, current)
		client.apply = func(int) error { return publish.ErrChanged }
		_, err := run(t.Context(), t, client, config, 0)
		require.ErrorIs(t, err, fault.NotSettled)
		require.False(t, client.Changed())

		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		report, err := run(ctx, t, client, config, time.Second)
		require.ErrorIs(t, err, fault.Timeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "before anything was published")
		require.Nil(t, report.Published)
	})
}

func TestAReplyThatIsNotWhatWasAppliedIsAnError(t *testing.T) {
	for name, spoil := range map[string]func(metadata map[string]any){
		"without the key":    func(metadata map[string]any) { delete(metadata, "links") },
		"with a null":        func(metadata map[string]any) { metadata["links"] = map[string]any{"a": nil} },
		"with another value": func(metadata map[string]any) { metadata["links"] = map[string]any{"a": map[string]any{"url": "x"}} },
	} {
		t.Run(name, func(t *testing.T) {
			client := newStub(t, current)
			client.stored = func(_ int, object *unstructured.Unstructured) {
				spoil(object.Object["status"].(map[string]any)["metadata"].(map[string]any))
			}
			report, err := run(t.Context(), t, client, config, 0)
			require.ErrorIs(t, err, fault.Unavailable)
			require.ErrorContains(t, err, "Stage demo/test: what the API server stored is not what was applied")
			require.Equal(t, map[string][]string{"links": {"a"}}, report.Published)
			require.True(t, report.Changed)
		})
	}
}

func TestAConflictOverAStaleReadIsDecidedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newStub(t, current)
		conflict := fault.New(fault.Conflict, target.String(), "others have the fields", nil)
		client.apply = func(n int) error {
			if n == 1 {
				client.revert(t, `[{op: add, path: /status/health, value: x}]`)
				return conflict
			}
			return nil
		}
		_, err := run(t.Context(), t, client, config, 0)
		require.NoError(t, err)
		client.apply = func(int) error { return conflict }
		_, err = run(t.Context(), t, client, `{metadata: []}`, 0)
		require.ErrorIs(t, err, fault.Conflict)
	})
}
