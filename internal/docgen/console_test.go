package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/cli"
)

const command = "publish-metadata"

// TestMain makes the test binary the command when it is called by its name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == command {
		os.Exit(cli.Execute(context.Background(), os.Args[1:], //nolint:forbidigo // there is no test whose context it could be
			cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.LookupEnv}))
	}
	os.Exit(m.Run())
}

var (
	block  = regexp.MustCompile("(?ms)^```(yaml|console)\n(.*?)^```$")
	spaces = regexp.MustCompile(`(?m)[ \t]+$`)
)

// shell returns what runs a page's commands in a folder: one shell, so that $? works.
func shell(t *testing.T, folder string) func(commands []string) string {
	executable, err := os.Executable()
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.Symlink(executable, filepath.Join(bin, command)))
	return func(commands []string) string {
		run := exec.CommandContext(t.Context(), "sh", "-c", strings.Join(commands, "\n"))
		run.Dir = folder
		run.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		output, _ := run.CombinedOutput() // a command that fails may be what the page shows
		return spaces.ReplaceAllString(string(output), "")
	}
}

// play runs a console block and compares all its output.
func play(t *testing.T, run func([]string) string, console string) {
	var commands []string
	var want strings.Builder
	for line := range strings.Lines(console) {
		if input, isInput := strings.CutPrefix(line, "$ "); isInput {
			commands = append(commands, strings.TrimSpace(input))
			continue
		}
		want.WriteString(line)
	}
	assert.Equal(t, want.String(), run(commands), "%s", commands)
}

// The console blocks that need no cluster, one after the other.
func TestQuickstartOnAFile(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "docs", "quickstart.md"))
	require.NoError(t, err)
	text, _, found := strings.Cut(string(content), "## Publish to a cluster")
	require.True(t, found)
	blocks := block.FindAllStringSubmatch(text, -1)
	require.Len(t, blocks, 8, "the blocks of the page have changed: see which are files, and which are played")
	build, request, dryRun, stage, publish, status, conflict, withdraw := blocks[0], blocks[1], blocks[2], blocks[3], blocks[4], blocks[5], blocks[6], blocks[7]
	require.Contains(t, build[2], "make build")

	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "request.yaml"), []byte(request[2]), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "stage.yaml"), []byte(stage[2]), 0o644))
	run := shell(t, folder)
	play(t, run, dryRun[2])
	play(t, run, publish[2]+status[2])
	play(t, run, conflict[2])
	play(t, run, withdraw[2])
}

func TestConsoleOfTheLocalExample(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS(filepath.Join(root, "examples", "local"))))
	content, err := os.ReadFile(filepath.Join(folder, "README.md"))
	require.NoError(t, err)
	blocks := block.FindAllStringSubmatch(string(content), -1)
	require.NotEmpty(t, blocks)
	for _, found := range blocks {
		play(t, shell(t, folder), found[2])
	}
}
