//go:build integration

package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/cluster"
	"github.com/kargo-steps/publish-metadata/step"
)

var server *controlplane.Server

func TestMain(m *testing.M) {
	controlplane.Main(m, func(s *controlplane.Server) { server = s })
}

func newClient(t testing.TB, config *rest.Config) *cluster.Client {
	t.Helper()
	client, err := cluster.New(config)
	require.NoError(t, err)
	return client
}

func newRunner(t testing.TB, client publish.Client, options ...step.Option) *step.Runner {
	t.Helper()
	runner, err := step.NewRunner(client, options...)
	require.NoError(t, err)
	return runner
}

// stage returns a fresh Stage "test" that runs a promotion, and its project.
func newStage(t testing.TB, promotion string) (project string) {
	t.Helper()
	project = server.Namespace(t)
	server.CreateStage(t, project, "test")
	if promotion != "" {
		setCurrent(t, project, promotion)
	}
	return project
}

func setCurrent(t testing.TB, project, promotion string) {
	t.Helper()
	server.SetStatus(t, controlplane.Stages, project, "test", map[string]any{"currentPromotion": map[string]any{"name": promotion}})
}

// request publishes links by a producer, within a promotion where it is not "".
func request(project, promotion, producer string, links map[string]any) step.Request {
	context := map[string]any{"project": project, "stage": "test", "meta": map[string]any{"step": map[string]any{"alias": producer}}}
	if promotion != "" {
		context["promotion"] = promotion
	}
	items := []any{}
	if len(links) > 0 {
		items = append(items, map[string]any{"key": "links", "value": links})
	}
	return step.Request{Context: context, Config: map[string]any{"metadata": items}}
}

// linksOf returns status.metadata.links as it stands.
func linksOf(t testing.TB, project string) map[string]any {
	t.Helper()
	links, _ := metadataOf(t, project)["links"].(map[string]any)
	return links
}

func metadataOf(t testing.TB, project string) map[string]any {
	t.Helper()
	stage := server.Get(t, controlplane.Stages, project, "test")
	status, _ := stage.Object["status"].(map[string]any)
	metadata, _ := status["metadata"].(map[string]any)
	return metadata
}

func link(url string) map[string]any { return map[string]any{"url": url} }
