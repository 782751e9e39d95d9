package step_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/cases"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
	"github.com/kargo-steps/publish-metadata/step"
)

// door is the Go door, on a manifest.
type door struct{ *cases.Manifest }

func (d door) Run(t testing.TB, document []byte) []byte {
	store, err := offline.Read(d.Text)
	require.NoError(t, err)
	runner, err := step.NewRunner(store, step.WithSettle(0))
	require.NoError(t, err)

	request, err := step.ParseRequest(document)
	result := step.FailedResult(err)
	if err == nil {
		result, err = runner.Run(t.Context(), request)
	}
	require.Equal(t, err == nil, result.Status == step.Succeeded)
	if err != nil {
		require.False(t, store.Changed(), "a failed run has written")
	}
	d.Text, err = store.Manifest()
	require.NoError(t, err)
	encoded, err := json.Marshal(result)
	require.NoError(t, err)
	return encoded
}

func TestCases(t *testing.T) {
	cases.Play(t, func(t *testing.T, c cases.Case) cases.Door {
		return door{cases.NewManifest(t, c)}
	})
}
