package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
	"github.com/kargo-steps/publish-metadata/step"
)

var example = regexp.MustCompile("(?s)<!-- example: (\\w+) -->\n```yaml\n(.*?)```")

const stage = `
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: test, namespace: demo}
`

// A page's request, published to an empty Stage, gives the page's metadata.
func TestExamplesGiveWhatThePageSays(t *testing.T) {
	for _, path := range []string{"README.md", "docs/quickstart.md"} {
		t.Run(path, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(root, path))
			require.NoError(t, err)
			parts := make(map[string][]byte)
			for _, found := range example.FindAllSubmatch(content, -1) {
				parts[string(found[1])] = found[2]
			}
			request, err := step.ParseRequest(parts["request"])
			require.NoError(t, err)
			want, err := document.Parse(parts["metadata"])
			require.NoError(t, err)

			store, err := offline.Read([]byte(stage))
			require.NoError(t, err)
			runner, err := step.NewRunner(store, step.WithSettle(0))
			require.NoError(t, err)
			result, err := runner.Run(t.Context(), request)
			require.NoError(t, err)
			assert.Equal(t, want, map[string]any{"status": store.Object().Object["status"]})
			assert.Contains(t, string(content), "Succeeded: "+result.Message)
		})
	}
}
