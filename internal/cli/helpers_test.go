package cli_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	stageText = `# The test Stage.
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata: {name: test, namespace: demo}
spec: {} # nothing
`
	requestText = `context: {project: demo, stage: test, promotion: test.01, meta: {step: {alias: publish}}}
outputs: {sync: {url: "https://h.example.com/q?a=1&b=<2>"}}
config:
  metadata:
  - {key: links, fromExpression: '{"argocd": {"url": outputs.sync.url, "label": "Argo & CD"}}'}
  - {key: example.com/x, schema: {}, value: {a: {b: 1}}}
`
	badText = `context: {project: demo, stage: test, meta: {step: {alias: publish}}}
config:
  metadata:
  - {key: linkz, value: {}}
  - {key: links, value: {a: {url: "javascript:hunter2"}}}
`
)

// result is what a command left behind.
type result struct {
	code     int
	out, err string
}

// execute runs a command with stdin and an environment.
func execute(t testing.TB, stdin io.Reader, env map[string]string, args ...string) result {
	t.Helper()
	var out, logs bytes.Buffer
	code := cli.Execute(t.Context(), args, cli.Streams{In: stdin, Out: &out, Err: &logs, Getenv: func(name string) (string, bool) {
		text, set := env[name]
		return text, set
	}})
	return result{code, out.String(), logs.String()}
}

func run(t testing.TB, stdin string, args ...string) result {
	t.Helper()
	return execute(t, strings.NewReader(stdin), nil, append([]string{"run"}, args...)...)
}

// file writes a file of its own folder.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// golden compares a text with testdata/<name>.
func golden(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	require.Equal(t, readFile(t, path), text)
}
