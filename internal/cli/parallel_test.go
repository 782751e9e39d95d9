package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/document"
)

// requestOf publishes one link by a producer.
func requestOf(producer string) string {
	return fmt.Sprintf("context: {project: demo, stage: test, promotion: test.01, meta: {step: {alias: %s}}}\n"+
		"config: {metadata: [{key: links, value: {%s: {url: 'https://h.example.com'}}}]}\n", producer, producer)
}

func TestRunsAtOnceLoseNothing(t *testing.T) {
	stage := file(t, "stage.yaml", stageText)
	const runs = 12
	var group sync.WaitGroup
	for n := range runs {
		group.Go(func() {
			got := run(t, requestOf(fmt.Sprintf("p%d", n)), "-f", "-", "--stage-file", stage, "--in-place")
			assert.Equal(t, 0, got.code, got.out+got.err)
		})
	}
	group.Wait()
	tree, err := document.Parse([]byte(readFile(t, stage)))
	require.NoError(t, err)
	metadata := tree.(map[string]any)["status"].(map[string]any)["metadata"].(map[string]any)
	require.Len(t, metadata["links"], runs)
	require.Len(t, metadata["provenance"], runs)
	left, err := os.ReadDir(filepath.Dir(stage))
	require.NoError(t, err)
	require.Len(t, left, 1, "a lock or a temporary file was left behind")
}

func TestALockOfAnotherRunIsWaitedFor(t *testing.T) {
	stage := file(t, "stage.yaml", stageText)
	lock := filepath.Join(filepath.Dir(stage), ".stage.yaml.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o600))
	args := []string{"-f", "-", "--stage-file", stage, "--in-place", "--timeout"}
	got := run(t, requestText, append(args, "50ms")...)
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "Errored: "+lock+": another run holds it: try again, or remove it if there is none")
	require.Equal(t, stageText, readFile(t, stage))

	time.AfterFunc(50*time.Millisecond, func() { _ = os.Remove(lock) })
	got = run(t, requestText, append(args, "30s")...)
	require.Equal(t, 0, got.code, got.out)
	require.NoFileExists(t, lock)
}

func TestALockThatWasLeftBehindIsRemoved(t *testing.T) {
	stage := file(t, "stage.yaml", stageText)
	lock := filepath.Join(filepath.Dir(stage), ".stage.yaml.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o600))
	long := time.Now().Add(-time.Minute)
	require.NoError(t, os.Chtimes(lock, long, long))
	got := run(t, requestText, "-f", "-", "--stage-file", stage, "--in-place")
	require.Equal(t, 0, got.code, got.out)
	left, err := os.ReadDir(filepath.Dir(stage))
	require.NoError(t, err)
	require.Len(t, left, 1)
}

// What somebody writes while a run waits for the lock is read before it is written over.
func TestAFileThatChangesMeanwhileIsReadAgain(t *testing.T) {
	stage := file(t, "stage.yaml", stageText)
	lock := filepath.Join(filepath.Dir(stage), ".stage.yaml.lock")
	require.NoError(t, os.WriteFile(lock, nil, 0o600))
	ended := make(chan result, 1)
	go func() { ended <- run(t, requestText, "-f", "-", "--stage-file", stage, "--in-place") }()
	require.Eventually(t, func() bool {
		waiting, err := filepath.Glob(filepath.Join(filepath.Dir(stage), ".publish-metadata-*"))
		return err == nil && len(waiting) == 1
	}, 10*time.Second, time.Millisecond)
	require.NoError(t, os.WriteFile(stage, []byte(strings.Replace(stageText, "nothing", "by hand", 1)), 0o600))
	require.NoError(t, os.Remove(lock))
	got := <-ended
	require.Equal(t, 0, got.code, got.out)
	require.Contains(t, readFile(t, stage), "by hand")
	require.Contains(t, readFile(t, stage), "argocd:")
}

func TestALongNameCanBeWithdrawnAgain(t *testing.T) {
	name := strings.Repeat("n", 200)
	stage := file(t, "stage.yaml", stageText)
	args := []string{"-f", "-", "--stage-file", stage, "--in-place"}
	publish := strings.ReplaceAll(requestOf("publish"), "{publish: {url", "{"+name+": {url")
	require.Equal(t, 0, run(t, publish, args...).code)
	require.Contains(t, readFile(t, stage), "\n      "+name+":\n        url: https://h.example.com\n")
	withdraw := "context: {project: demo, stage: test, promotion: test.01, meta: {step: {alias: publish}}}\nconfig: {metadata: []}\n"
	got := run(t, withdraw, args...)
	require.Equal(t, 0, got.code, got.out)
	written := readFile(t, stage)
	require.NotContains(t, written, name)
	require.NotContains(t, written, "\nstatus")
}
