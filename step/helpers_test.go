package step_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/step"
)

const emptyStage = `apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: test, namespace: demo}
spec: {}
`

// newManifest returns a Stage demo/test, and a Runner that publishes to it.
func newManifest(t testing.TB) (*step.Manifest, *step.Runner) {
	t.Helper()
	manifest, err := step.ReadManifest([]byte(emptyStage))
	require.NoError(t, err)
	runner, err := step.NewRunner(manifest.Client(), step.WithSettle(0))
	require.NoError(t, err)
	return manifest, runner
}

// runDocument runs a request document against an empty Stage.
func runDocument(t testing.TB, document []byte) (step.Result, error) {
	t.Helper()
	manifest, runner := newManifest(t)
	request, err := step.ParseRequest(document)
	if err != nil {
		return step.FailedResult(err), err
	}
	result, err := runner.Run(t.Context(), request)
	require.Equal(t, err == nil, result.Status == step.Succeeded)
	if err != nil {
		require.False(t, manifest.Changed(), "a failed run has written")
	}
	return result, err
}

// request returns a request of the step publish on Stage demo/test.
func request(outputs any, items ...any) step.Request {
	return step.Request{
		Context: map[string]any{"project": "demo", "stage": "test", "meta": map[string]any{"step": map[string]any{"alias": "publish"}}},
		Outputs: outputs,
		Config:  map[string]any{"metadata": append([]any{}, items...)},
	}
}

// encode returns the document of a request.
func encode(t testing.TB, r step.Request) []byte {
	t.Helper()
	document, err := json.Marshal(map[string]any{"context": r.Context, "outputs": r.Outputs, "config": r.Config})
	require.NoError(t, err)
	return document
}
