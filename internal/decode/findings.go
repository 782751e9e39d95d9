package decode

import (
	"maps"
	"slices"
	"strings"

	"github.com/kargo-steps/publish-metadata/schema"
)

// Findings are what is wrong with a request so far. Each stage adds its own, and
// passes on what is sound, so that one report has the problems of all stages.
type Findings struct {
	Problems schema.Problems
	// partial are the keys of which something is left out; "" is every key.
	partial map[string]bool
}

// Clone returns Findings that can be added to.
func (f Findings) Clone() Findings {
	return Findings{Problems: slices.Clone(f.Problems), partial: maps.Clone(f.partial)}
}

// LeaveOut notes that something of a key is not passed on; "" is of any key.
func (f *Findings) LeaveOut(key string) {
	if f.partial == nil {
		f.partial = make(map[string]bool)
	}
	f.partial[key] = true
}

// Partial says whether something of a key is left out: then nothing can be said
// about the key as a whole.
func (f *Findings) Partial(key string) bool { return f.partial[""] || f.partial[key] }

// sound returns the items that no problem points into, and whose key has a schema.
func (f *Findings) sound(items []Item) []Item {
	return slices.DeleteFunc(items, func(item Item) bool {
		unsound := slices.ContainsFunc(f.Problems, func(problem schema.Problem) bool {
			return strings.HasPrefix(problem.Pointer, item.Pointer()+"/")
		})
		unsound = unsound || item.Key != "" && item.Schema == nil
		if unsound {
			f.LeaveOut(item.Key)
		}
		return unsound
	})
}
