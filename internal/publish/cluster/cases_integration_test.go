//go:build integration

package cluster_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/cases"
	"github.com/kargo-steps/publish-metadata/internal/controlplane"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/step"
)

// door is the Go door, on a Stage of the API server.
type door struct {
	controlplane.CaseStage
	runner *step.Runner
}

func (d door) Run(t testing.TB, document []byte) []byte {
	request, err := step.ParseRequest(d.Move(document))
	result := step.FailedResult(err)
	if err == nil {
		result, err = d.runner.Run(t.Context(), request)
	}
	require.Equal(t, err == nil, result.Status == step.Succeeded)
	encoded, err := json.Marshal(result)
	require.NoError(t, err)
	return encoded
}

func TestCases(t *testing.T) {
	var client publish.Client = newClient(t, server.AdminConfig())
	cases.Play(t, func(t *testing.T, c cases.Case) cases.Door {
		return door{server.CaseStage(t, newStage(t, ""), c), newRunner(t, client, step.WithSettle(0))}
	})
}
