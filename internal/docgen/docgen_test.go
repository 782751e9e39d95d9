package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the repository, seen from this package.
const root = "../.."

func TestGeneratedPagesAreCurrent(t *testing.T) {
	var out, problems bytes.Buffer
	require.Zero(t, run(root, true, &out, &problems), "%s%s", out.String(), problems.String())
}

// copied returns a root with the pages as they stand.
func copied(t *testing.T) string {
	folder := t.TempDir()
	for _, p := range pages() {
		content, err := os.ReadFile(filepath.Join(root, p.path))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(folder, filepath.Dir(p.path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, p.path), content, 0o644))
	}
	return folder
}

func TestCheckListsWhatIsNotCurrentAndWritesNothing(t *testing.T) {
	folder := copied(t)
	stale := filepath.Join(folder, "docs", "config.md")
	require.NoError(t, os.WriteFile(stale, []byte("old"), 0o644))
	require.NoError(t, os.Remove(filepath.Join(folder, "docs", "schemas.md")))

	var out, problems bytes.Buffer
	assert.Equal(t, 1, run(folder, true, &out, &problems))
	assert.Equal(t, "docs/config.md is not current: run make generate\ndocs/schemas.md is not current: run make generate\n", out.String())
	assert.Empty(t, problems.String())
	content, err := os.ReadFile(stale)
	require.NoError(t, err)
	assert.Equal(t, "old", string(content))
	assert.NoFileExists(t, filepath.Join(folder, "docs", "schemas.md"))
}

func TestGenerateWritesWhatIsNotCurrentAndNothingElse(t *testing.T) {
	folder := copied(t)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "docs", "config.md"), []byte("old"), 0o644))

	var out, problems bytes.Buffer
	assert.Zero(t, run(folder, false, &out, &problems))
	assert.Equal(t, "wrote docs/config.md\n", out.String())
	assert.Empty(t, problems.String())
	assert.Zero(t, run(folder, true, &out, &problems), "what was written is not current")
}

func TestARegionLeavesTheRestOfThePage(t *testing.T) {
	fill := region("words", func() string { return "new\n" })
	page, err := fill([]byte("a\n<!-- generated: words -->\nold\n<!-- end -->\nb\n"))
	require.NoError(t, err)
	assert.Equal(t, "a\n<!-- generated: words -->\nnew\n<!-- end -->\nb\n", string(page))
}

func TestARegionNeedsItsMarks(t *testing.T) {
	folder := copied(t)
	page := filepath.Join(folder, "docs", "expressions.md")
	for content, missing := range map[string]string{
		"":                                "the mark <!-- generated: functions --> is missing",
		"<!-- generated: functions -->\n": "the mark <!-- end --> is missing",
	} {
		require.NoError(t, os.WriteFile(page, []byte(content), 0o644))
		var out, problems bytes.Buffer
		assert.Equal(t, 2, run(folder, false, &out, &problems))
		assert.Contains(t, problems.String(), "docs/expressions.md: "+missing)
		unchanged, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.Equal(t, content, string(unchanged))
	}
}
