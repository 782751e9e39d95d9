package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAStageIsPrintedAsItWouldBe(t *testing.T) {
	stage := file(t, "stage.yaml", stageText)
	printed := run(t, requestText, "-f", "-", "--stage-file", stage)
	require.Equal(t, 0, printed.code, printed.err)
	require.Equal(t, stageText, readFile(t, stage), "the file was written")
	require.Contains(t, printed.err, "Succeeded: Stage demo/test: published ")

	inPlace := run(t, requestText, "-f", "-", "--stage-file", stage, "--in-place")
	require.Equal(t, 0, inPlace.code, inPlace.err)
	require.Contains(t, inPlace.out, "Succeeded: Stage demo/test: published ")
	require.Equal(t, printed.out, readFile(t, stage), "what is printed is what is written")
}

func TestAFileThatDoesNotChangeIsNotWritten(t *testing.T) {
	stage := file(t, "stage.yaml", stageText)
	args := []string{"-f", "-", "--stage-file", stage, "--in-place"}
	require.Equal(t, 0, run(t, requestText, args...).code)
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(stage, long, long))
	before := readFile(t, stage)
	for _, request := range []string{requestText, badText} {
		run(t, request, args...)
		info, err := os.Stat(stage)
		require.NoError(t, err)
		require.Equal(t, before, readFile(t, stage))
		require.True(t, info.ModTime().Equal(long), "the file was written")
	}
}

func TestAFileKeepsItsLinkAndItsPermissions(t *testing.T) {
	folder := t.TempDir()
	stage, link := filepath.Join(folder, "stage.yaml"), filepath.Join(folder, "link.yaml")
	require.NoError(t, os.WriteFile(stage, []byte(stageText), 0o600))
	require.NoError(t, os.Chmod(stage, 0o640))
	require.NoError(t, os.Symlink("stage.yaml", link))
	got := run(t, requestText, "-f", "-", "--stage-file", link, "--in-place")
	require.Equal(t, 0, got.code, got.err)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.Equal(t, os.ModeSymlink, info.Mode().Type())
	info, err = os.Stat(stage)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	require.Contains(t, readFile(t, stage), "argocd:")
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 2, "a temporary file was left behind")
}

func TestAStageFileThatCannotBe(t *testing.T) {
	for name, test := range map[string]struct{ path, message string }{
		"that does not exist": {"/nowhere/stage.yaml", "/nowhere/stage.yaml: it cannot be read: no such file or directory"},
		"that is empty":       {file(t, "empty.yaml", ""), "manifest: empty; give one JSON or YAML document"},
		"that is malformed":   {file(t, "bad.yaml", "a: ["), "manifest: line 1, column 4: expected"},
		"with keys twice":     {file(t, "twice.yaml", "a: 1\na: 2\n"), "manifest: /a: line 2, column 1: a key given twice"},
		"of another kind":     {file(t, "pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"), "manifest: it is not a named Stage or Freight"},
		"of another Stage":    {file(t, "stage.yaml", strings.Replace(stageText, "name: test", "name: prod", 1)), "Stage demo/test: the manifest is of another object, Stage demo/prod"},
	} {
		got := run(t, requestText, "-f", "-", "--stage-file", test.path, "-o", "json")
		require.Equal(t, 2, got.code, name)
		require.Contains(t, got.out, test.message, name)
		require.NotContains(t, got.out, `"stage":`)
	}
}

func TestAFailureWritesNoManifestToStdout(t *testing.T) {
	got := run(t, badText, "-f", "-", "--stage-file", file(t, "stage.yaml", stageText))
	require.Equal(t, 2, got.code)
	require.Empty(t, got.out)
	require.Contains(t, got.err, "Failed: request:\n  /config/metadata/0/key: unknown key linkz")
}

// A file in /proc is no folder's: a file beside it cannot be made, by root neither.
func TestAFolderThatCannotBeWrittenTo(t *testing.T) {
	stage := filepath.Join(t.TempDir(), "stage.yaml")
	source, writer, err := os.Pipe()
	require.NoError(t, err)
	_, err = writer.WriteString(stageText)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	t.Cleanup(func() { _ = source.Close() })
	require.NoError(t, os.Symlink(fmt.Sprintf("/proc/self/fd/%d", source.Fd()), stage))
	got := run(t, requestText, "-f", "-", "--stage-file", stage, "--in-place", "-o", "json")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.out, stage+": it cannot be written: ")
	require.NotContains(t, got.out, "Succeeded")
}
