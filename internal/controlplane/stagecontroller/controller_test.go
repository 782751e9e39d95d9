//go:build integration

package stagecontroller_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
	"github.com/kargo-steps/publish-metadata/internal/controlplane/stagecontroller"
)

var server *controlplane.Server

func TestMain(m *testing.M) {
	controlplane.Main(m, func(s *controlplane.Server) { server = s })
}

// object reads JSON as the API server's answers have it.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var members map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &members))
	return members
}

// apply makes metadata the whole intent of one producer, as JSON.
func apply(t *testing.T, namespace, metadata string) {
	t.Helper()
	body := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": controlplane.KargoAPIVersion, "kind": "Stage",
		"metadata": map[string]any{"name": "dev", "namespace": namespace},
		"status":   map[string]any{"metadata": object(t, metadata)},
	}}
	_, err := server.Client().Resource(controlplane.Stages).Namespace(namespace).Apply(t.Context(), "dev", body,
		metav1.ApplyOptions{FieldManager: "publish-metadata/test", Force: true}, "status")
	require.NoError(t, err)
}

func metadataOf(t *testing.T, namespace string) any {
	t.Helper()
	status, _ := server.Get(t, controlplane.Stages, namespace, "dev").Object["status"].(map[string]any)
	return status["metadata"]
}

const former = `{"links": {"a": {"url": "https://a.example.com", "label": "A"}, "b": {"url": "https://b.example.com"}}}`

func TestAnApplyThatLandsInAPassIsUndone(t *testing.T) {
	for name, test := range map[string]struct {
		applied string
		want    stagecontroller.Counts
	}{
		"a changed leaf": {
			`{"links": {"a": {"url": "https://z.example.com", "label": "A"}, "b": {"url": "https://b.example.com"}}}`,
			stagecontroller.Counts{Passes: 1, Undone: 1, Changed: 1},
		},
		"an entry that shrunk": {
			`{"links": {"a": {"url": "https://a.example.com"}, "b": {"url": "https://b.example.com"}}}`,
			stagecontroller.Counts{Passes: 1, Undone: 1, Restored: 1},
		},
		"an entry that was pruned": {
			`{"links": {"b": {"url": "https://b.example.com"}}}`,
			stagecontroller.Counts{Passes: 1, Undone: 1, Restored: 1},
		},
		"a new entry": {
			`{"links": {"a": {"url": "https://a.example.com", "label": "A"}, "b": {"url": "https://b.example.com"}, "c": {"url": "https://c.example.com"}}}`,
			stagecontroller.Counts{Passes: 1, Undone: 1, Removed: 1},
		},
		"all of these": {
			`{"links": {"a": {"url": "https://z.example.com"}, "c": {"url": "https://c.example.com"}}, "checks": {"d": {"name": "d"}}}`,
			stagecontroller.Counts{Passes: 1, Undone: 1, Changed: 1, Restored: 2, Removed: 2},
		},
	} {
		for _, step := range []int{0, 2} {
			t.Run(name, func(t *testing.T) {
				namespace := server.Namespace(t)
				server.CreateStage(t, namespace, "dev")
				apply(t, namespace, former)
				landed := false
				controller := stagecontroller.New(server.Client(), namespace, "dev", stagecontroller.Options{
					Steps: 3,
					During: func(at int) {
						if at == step {
							apply(t, namespace, test.applied)
							landed = true
						}
					},
				})
				require.NoError(t, controller.Pass(t.Context()))
				assert.True(t, landed)
				assert.Equal(t, object(t, former), metadataOf(t, namespace))
				assert.Equal(t, test.want, controller.Counts())
			})
		}
	}
}

func TestAnApplyBetweenPassesStands(t *testing.T) {
	namespace := server.Namespace(t)
	server.CreateStage(t, namespace, "dev")
	server.SetStatus(t, controlplane.Stages, namespace, "dev", map[string]any{"freightSummary": "1.0"})
	controller := stagecontroller.New(server.Client(), namespace, "dev", stagecontroller.Options{})
	require.NoError(t, controller.Pass(t.Context()))
	apply(t, namespace, former)
	require.NoError(t, controller.Pass(t.Context()))
	assert.Equal(t, object(t, former), metadataOf(t, namespace))
	assert.Equal(t, stagecontroller.Counts{Passes: 2}, controller.Counts())
	status := server.Get(t, controlplane.Stages, namespace, "dev").Object["status"].(map[string]any)
	assert.Equal(t, "1.0", status["freightSummary"])
	assert.NotContains(t, status, "conditions", "a pass leaves no trace")
}

// This is why a publication is not done when it is applied.
func TestARunningControllerUndoesWithinSeconds(t *testing.T) {
	namespace := server.Namespace(t)
	server.CreateStage(t, namespace, "dev")
	controller := stagecontroller.New(server.Client(), namespace, "dev", stagecontroller.Options{
		Pass: 60 * time.Millisecond, Pause: 5 * time.Millisecond, Seed: 7,
	})
	stop := controller.Start(t)
	for i := 0; controller.Counts().Undone < 3; i++ {
		require.Less(t, i, 1000, "nothing is undone")
		apply(t, namespace, former)
		time.Sleep(50 * time.Millisecond)
		apply(t, namespace, `{"links": {"b": {"url": "https://z.example.com"}}}`)
	}
	counts := stop()
	require.NoError(t, counts.LastFailure)
	assert.Positive(t, counts.Passes)
	assert.Equal(t, counts, stop(), "nothing happens after the stop")
}

func TestAStageThatComesLaterIsFound(t *testing.T) {
	namespace := server.Namespace(t)
	controller := stagecontroller.New(server.Client(), namespace, "dev", stagecontroller.Options{})
	stop := controller.Start(t)
	require.Eventually(t, func() bool { return controller.Counts().Failures > 0 }, time.Minute, time.Millisecond)
	server.CreateStage(t, namespace, "dev")
	require.Eventually(t, func() bool { return controller.Counts().Passes > 0 }, time.Minute, time.Millisecond)
	assert.True(t, apierrors.IsNotFound(stop().LastFailure))
}

func TestAPassEndsWithItsContext(t *testing.T) {
	namespace := server.Namespace(t)
	server.CreateStage(t, namespace, "dev")
	controller := stagecontroller.New(server.Client(), namespace, "dev", stagecontroller.Options{Pass: time.Hour})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, controller.Pass(ctx), context.DeadlineExceeded)
	assert.Zero(t, controller.Counts().Passes)
}
