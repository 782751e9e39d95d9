// Package shape is the third stage: it brings every value into the form of its
// key, a map of entries.
//
// In: resolved items. Out: Shaped, one Key for each key, whose items are merged
// by entry; lists have become entries, nulls and empty objects are gone. Values
// that have no such form are left out, with a problem.
package shape

import (
	"fmt"
	"slices"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/resolve"
	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Shaped is a Job's metadata in the form that is checked and stored.
type Shaped struct {
	Job      decode.Job
	Keys     map[string]*Key
	Warnings []string
	decode.Findings
	// Oversize are values that are too large to look into, which are left out.
	Oversize schema.Problems
	// left is how many bytes of JSON are looked into yet.
	left int
}

// Key is what is published under one key.
type Key struct {
	Name    string
	Schema  *schema.Schema
	Entries map[string]Entry
	// Unstored are values of entries that are not stored, an empty object or the
	// element of a list without a name, by a name that is no other entry's. What is
	// wrong inside them is of interest all the same.
	Unstored map[string]Entry
	// Keep says that what the owner has there stays as it is.
	Keep bool
	// Pointer is the key's first item.
	Pointer string
}

// Entry is a named member of a key's value.
type Entry struct {
	Value any
	// Pointer is where the value comes from.
	Pointer string
	// TakeOver says that other owners of the entry give way.
	TakeOver bool
}

// MaxBytes is the size of the values that are looked into, as compact JSON, before
// nulls and equal entries are gone.
const MaxBytes = 2 << 20

// Shape merges the items into keys.
func Shape(resolved resolve.Resolved) Shaped {
	shaped := Shaped{
		Job: resolved.Job, Keys: make(map[string]*Key), Warnings: slices.Clip(resolved.Warnings),
		Findings: resolved.Clone(), left: MaxBytes,
	}
	for _, item := range resolved.Items {
		shaped.checkKeep(item, resolved.Items)
		if item.Key != "" { // else a missing step that would have named its keys
			shaped.add(item)
		}
	}
	return shaped
}

// checkKeep refuses keep where it is not known which entries it means, and warns
// where it may mean more than one thinks.
func (s *Shaped) checkKeep(item resolve.Item, items []resolve.Item) {
	if item.OnMissing != decode.Keep {
		return
	}
	for _, other := range items {
		switch {
		case other.Index == item.Index:
		case other.Key == item.Key:
			s.Problems.Add(item.Pointer()+"/onMissing", "keep, but %s has several items: it is not known which entries to keep", item.Key)
			return
		case other.Key == "" && item.Missing:
			// The step may never have offered this key, so that refusing would harm more.
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s/onMissing: keeps all of %s, also what the step at %s, which is missing too, may have published there: give that item a key",
				item.Pointer(), item.Key, other.Source))
			return
		}
	}
}

// add merges one item into its key.
func (s *Shaped) add(item resolve.Item) {
	key := s.Keys[item.Key]
	if key == nil {
		key = &Key{Name: item.Key, Schema: item.Schema, Entries: make(map[string]Entry), Unstored: make(map[string]Entry), Pointer: item.Source}
		s.Keys[item.Key] = key
	}
	if item.Missing {
		key.Keep = item.OnMissing == decode.Keep
		return
	}
	if s.left >= 0 { // else nothing more is looked into
		s.left -= value.Size(item.Value)
	}
	if s.left < 0 {
		s.Oversize.Add(item.Source, "the values of the request have more than %d bytes of JSON in all: publish less", MaxBytes)
		s.LeaveOut(item.Key)
		return
	}
	for _, named := range s.entries(item, key) {
		if object, isObject := named.Value.(map[string]any); isObject && len(object) == 0 {
			s.Warnings = append(s.Warnings, named.Pointer+": an empty object is not stored")
			if _, exists := key.Unstored[named.name]; !exists {
				key.Unstored[named.name] = named.Entry
			}
			continue
		}
		former, exists := key.Entries[named.name]
		if exists && !tree.Equal(former.Value, named.Value) {
			s.Problems.Add(named.Pointer, "the entry %s of %s differs from the one at %s: one of them needs another name",
				wording.Name(named.name), item.Key, former.Pointer)
			continue
		}
		named.TakeOver = item.TakeOver || former.TakeOver
		key.Entries[named.name] = named.Entry
	}
}

// Names returns the names of the keys, sorted.
func (s Shaped) Names() []string {
	return tree.SortedKeys(s.Keys)
}
