//go:build integration

package cluster_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/step"
)

// interrupted is a client with somebody else who acts around its first apply.
type interrupted struct {
	publish.Client
	before, after func()
	applied       int
}

func (i *interrupted) Apply(ctx context.Context, target decode.Target, body *unstructured.Unstructured, options publish.ApplyOptions) (*unstructured.Unstructured, error) {
	i.applied++
	if i.applied == 1 && i.before != nil {
		i.before()
	}
	stored, err := i.Client.Apply(ctx, target, body, options)
	if i.applied == 1 && i.after != nil {
		i.after()
	}
	return stored, err
}

func remove(t testing.TB, project string) {
	require.NoError(t, server.Client().Resource(controlplane.Stages).Namespace(project).Delete(t.Context(), "test", metav1.DeleteOptions{}))
}

func TestWhatHappensDuringAPublication(t *testing.T) {
	recreate := func(t testing.TB, project string) {
		remove(t, project)
		server.CreateStage(t, project, "test")
	}
	tests := map[string]struct {
		before, after func(testing.TB, string)
		kind          step.Kind
		exists        bool
	}{
		"a Stage that is deleted before the apply is not created":  {before: remove, kind: step.NotFound},
		"a Stage that is deleted after the apply is not created":   {after: remove, kind: step.NotFound},
		"a Stage that is recreated before the apply is left alone": {before: recreate, kind: step.NotFound, exists: true},
		"a Stage that is recreated after the apply is left alone":  {after: recreate, kind: step.NotFound, exists: true},
		"an aborted promotion does not begin to publish": {
			before: func(t testing.TB, project string) { setCurrent(t, project, "test.02") }, kind: step.Superseded, exists: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			project := newStage(t, "test.01")
			client := &interrupted{Client: newClient(t, server.AdminConfig())}
			if test.before != nil {
				client.before = func() { test.before(t, project) }
			}
			if test.after != nil {
				client.after = func() { test.after(t, project) }
			}
			result, err := newRunner(t, client, step.WithSettle(200*time.Millisecond)).
				Run(t.Context(), request(project, "test.01", "publish", map[string]any{"a": link("https://a.example.com")}))
			require.ErrorIs(t, err, test.kind)
			require.Equal(t, step.Failed, result.Status)
			stages, err := server.Client().Resource(controlplane.Stages).Namespace(project).List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Equal(t, test.exists, len(stages.Items) == 1)
			if test.exists {
				require.Empty(t, metadataOf(t, project))
			}
		})
	}
}

func TestAnAbortedPromotionDoesNotFightItsSuccessor(t *testing.T) {
	project := newStage(t, "test.01")
	plain := newClient(t, server.AdminConfig())
	client := &interrupted{Client: plain, after: func() {
		setCurrent(t, project, "test.02")
		_, err := newRunner(t, plain, step.WithSettle(0)).
			Run(t.Context(), request(project, "test.02", "publish", map[string]any{"a": link("https://new.example.com")}))
		require.NoError(t, err)
	}}
	result, err := newRunner(t, client, step.WithSettle(time.Second)).
		Run(t.Context(), request(project, "test.01", "publish", map[string]any{"a": link("https://old.example.com")}))
	require.ErrorIs(t, err, step.Superseded)
	require.Equal(t, map[string]any{"links": []any{"a"}}, result.Output["published"], "what was done is in the result")
	require.Equal(t, map[string]any{"a": link("https://new.example.com")}, linksOf(t, project))
	require.Equal(t, 1, client.applied)
}

func TestCancellingEndsAPublicationAtAnyPoint(t *testing.T) {
	project := newStage(t, "test.01")
	runner := newRunner(t, newClient(t, server.AdminConfig()), step.WithSettle(time.Second))
	for delay := time.Duration(0); delay < 900*time.Millisecond; delay += 60 * time.Millisecond {
		ctx, cancel := context.WithCancel(t.Context())
		var cancelled time.Time
		time.AfterFunc(delay, func() { cancelled = time.Now(); cancel() })
		result, err := runner.Run(ctx, request(project, "test.01", "publish", map[string]any{"a": link("https://a.example.com")}))
		<-ctx.Done()
		require.Less(t, time.Since(cancelled), 100*time.Millisecond)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, step.Errored, result.Status)
		require.Contains(t, result.Output, "published")
	}
}
