package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	fence   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	inline  = regexp.MustCompile("``[^`].*?``|`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

// markdown returns the pages of the repository by path, code left out.
func markdown(t *testing.T) map[string]string {
	texts := make(map[string]string)
	add := func(path string) {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		texts[path] = inline.ReplaceAllString(fence.ReplaceAllString(string(content), ""), "")
	}
	add(filepath.Join(root, "README.md"))
	add(filepath.Join(root, "CONTRIBUTING.md"))
	for _, folder := range []string{"docs", "examples"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".md") {
				add(path)
			}
			return err
		}))
	}
	return texts
}

// anchors returns the anchors of a page's headings, as GitHub makes them.
func anchors(t *testing.T, path string) []string {
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	var all []string
	for _, found := range heading.FindAllStringSubmatch(fence.ReplaceAllString(string(content), ""), -1) {
		all = append(all, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-"))
	}
	return all
}

func TestRelativeLinksResolve(t *testing.T) {
	pages := markdown(t)
	count := 0
	for path, text := range pages {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			count++
			file, anchor, hasAnchor := strings.Cut(found[1], "#")
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
			}
			if !assert.FileExists(t, target, "%s links to %s", path, found[1]) {
				continue
			}
			if hasAnchor {
				assert.Contains(t, anchors(t, target), anchor, "%s links to %s", path, found[1])
			}
		}
	}
	require.Greater(t, count, 30, "hardly any link was found")
}

func TestEveryPageIsLinkedTo(t *testing.T) {
	linked := make(map[string]bool)
	texts := markdown(t)
	for path, text := range texts {
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			file, _, _ := strings.Cut(found[1], "#")
			linked[filepath.Join(filepath.Dir(path), filepath.FromSlash(file))] = true
		}
	}
	for path := range texts {
		if path != filepath.Join(root, "README.md") {
			assert.True(t, linked[path], "no page links to %s", path)
		}
	}
}
