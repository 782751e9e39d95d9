package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/cases"
	"github.com/kargo-steps/publish-metadata/internal/cli"
)

// door is the command's door, on a Stage file that is written in place.
type door struct{ *cases.Manifest }

func (d door) Run(t testing.TB, document []byte) []byte {
	file := filepath.Join(t.TempDir(), "stage.yaml")
	require.NoError(t, os.WriteFile(file, d.Text, 0o600))
	var out, logs bytes.Buffer
	code := cli.Execute(t.Context(), []string{"run", "-f", "-", "--stage-file", file, "--in-place", "-o", "json"},
		cli.Streams{In: bytes.NewReader(document), Out: &out, Err: &logs, Getenv: os.LookupEnv})
	require.Contains(t, []int{0, 1, 2}, code)
	require.Equal(t, code == 0, bytes.Contains(out.Bytes(), []byte(`"status": "Succeeded"`)), out.String())
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	d.Text = written
	return out.Bytes()
}

func TestCases(t *testing.T) {
	cases.Play(t, func(t *testing.T, c cases.Case) cases.Door {
		return door{cases.NewManifest(t, c)}
	})
}
