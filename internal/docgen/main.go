// Command docgen writes the reference pages under docs from what the code holds:
// the config schema, the schemas of the well-known keys, and the functions of
// expressions.
//
// In: the root of the repository, by default the working folder. Out: the pages,
// the same bytes for the same code; with -check nothing is written, and the exit
// code is 1 when a page is not current. A page that is written by hand in part
// has a marked region, and the rest of it stays.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	check := flag.Bool("check", false, "list the pages that are not current, and write nothing")
	root := flag.String("root", ".", "root of the repository")
	flag.Parse()
	os.Exit(run(*root, *check, os.Stdout, os.Stderr))
}

// run brings every page up to date, or lists those that are not. It returns the
// exit code: 0, 1 for pages that are not current, 2 for one that cannot be made.
func run(root string, check bool, out, problems io.Writer) int {
	code := 0
	for _, p := range pages() {
		stale, err := p.update(root, check)
		switch {
		case err != nil:
			fmt.Fprintf(problems, "%s: %s\n", p.path, err)
			code = 2
		case stale && check:
			fmt.Fprintf(out, "%s is not current: run make generate\n", p.path)
			code = max(code, 1)
		case stale:
			fmt.Fprintf(out, "wrote %s\n", p.path)
		}
	}
	return code
}

// update makes the page and says whether it was another before.
func (p page) update(root string, check bool) (stale bool, err error) {
	file := filepath.Join(root, filepath.FromSlash(p.path))
	before, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return false, err
	}
	after, err := p.make(before)
	if err != nil || bytes.Equal(before, after) {
		return false, err
	}
	if check {
		return true, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return true, err
	}
	return true, os.WriteFile(file, after, 0o644)
}
