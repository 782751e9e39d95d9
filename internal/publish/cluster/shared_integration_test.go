//go:build integration

package cluster_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
	"github.com/kargo-steps/publish-metadata/step"
)

func TestProducersInParallelLoseNothing(t *testing.T) {
	const producers = 40
	shared := newRunner(t, newClient(t, server.AdminConfig()), step.WithSettle(0))
	tests := map[string]struct {
		rounds int
		runner func() *step.Runner
	}{
		"of one process, which take turns": {20, func() *step.Runner { return shared }},
		"of a process each": {4, func() *step.Runner {
			return newRunner(t, newClient(t, server.AdminConfig()), step.WithSettle(0))
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			project := newStage(t, "test.01")
			for round := range test.rounds {
				url := func(n int) string { return fmt.Sprintf("https://p.example.com/%d/%d", n, round) }
				var group sync.WaitGroup
				for n := range producers {
					group.Go(func() {
						producer := fmt.Sprintf("producer-%d", n)
						_, err := test.runner().Run(t.Context(), request(project, "test.01", producer, map[string]any{producer: link(url(n))}))
						assert.NoError(t, err)
					})
				}
				group.Wait()
				links := linksOf(t, project)
				require.Len(t, links, producers)
				for n := range producers {
					require.Equal(t, link(url(n)), links[fmt.Sprintf("producer-%d", n)])
				}
			}
		})
	}
}

func TestTheRestOfTheStageStays(t *testing.T) {
	project := newStage(t, "test.01")
	server.SetStatus(t, controlplane.Stages, project, "test", map[string]any{
		"health": map[string]any{"status": "Healthy"}, "observedGeneration": 3,
		"freightHistory": []any{map[string]any{"id": "a", "items": map[string]any{}}},
	})
	rest := func() string {
		stage := server.Get(t, controlplane.Stages, project, "test").Object
		status := stage["status"].(map[string]any)
		delete(status, "metadata")
		text, err := json.Marshal([]any{stage["spec"], status, stage["metadata"].(map[string]any)["generation"]})
		require.NoError(t, err)
		return string(text)
	}
	before := rest()
	runner := newRunner(t, newClient(t, server.AdminConfig()), step.WithSettle(0))
	for _, links := range []map[string]any{{"a": link("https://a.example.com")}, {"b": link("https://b.example.com")}, {}} {
		_, err := runner.Run(t.Context(), request(project, "test.01", "publish", links))
		require.NoError(t, err)
		require.Equal(t, before, rest())
	}
}
