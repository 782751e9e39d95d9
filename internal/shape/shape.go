// Package shape is the third stage: it brings every value into the form of its
// key, a map of entries.
//
// In: resolved items. Out: Shaped, one Key for each key, whose items are merged
// by entry; lists have become entries, nulls and empty objects are gone. The
// error lists every value that has no such form.
package shape

import (
	"fmt"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/resolve"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Shaped is a Job's metadata in the form that is checked and stored.
type Shaped struct {
	Job      decode.Job
	Keys     map[string]*Key
	Warnings []string
}

// Key is what is published under one key.
type Key struct {
	Name    string
	Schema  *schema.Schema
	Entries map[string]Entry
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

// Shape merges the items into keys. The error is a *fault.Error of kind Invalid.
func Shape(resolved resolve.Resolved) (Shaped, error) {
	shaped := Shaped{Job: resolved.Job, Keys: make(map[string]*Key), Warnings: resolved.Warnings}
	items := make(map[string]int)
	var problems schema.Problems
	for _, item := range resolved.Items {
		if item.Key != "" {
			items[item.Key]++
		}
	}
	for _, item := range resolved.Items {
		if item.Key == "" {
			continue // a missing step that would have named its keys
		}
		if item.OnMissing == decode.Keep && items[item.Key] > 1 {
			problems.Add(item.Pointer()+"/onMissing", "keep, but %s has several items: it is not known which entries to keep", item.Key)
		}
		problems = append(problems, shaped.add(item)...)
	}
	if len(problems) > 0 {
		return Shaped{}, fault.Of(fault.Invalid, "request", problems)
	}
	return shaped, nil
}

// add merges one item into its key.
func (s *Shaped) add(item resolve.Item) schema.Problems {
	key := s.Keys[item.Key]
	if key == nil {
		key = &Key{Name: item.Key, Schema: item.Schema, Entries: make(map[string]Entry), Pointer: item.Source}
		s.Keys[item.Key] = key
	}
	if item.Missing {
		key.Keep = item.OnMissing == decode.Keep
		return nil
	}
	var problems schema.Problems
	for _, named := range entries(item, &problems) {
		former, exists := key.Entries[named.name]
		if exists && !tree.Equal(former.Value, named.Value) {
			problems.Add(named.Pointer, "the entry %s of %s differs from the one at %s: one of them needs another name", named.name, item.Key, former.Pointer)
			continue
		}
		named.TakeOver = item.TakeOver || former.TakeOver
		key.Entries[named.name] = named.Entry
	}
	return problems
}

// namedEntry is an entry and its name.
type namedEntry struct {
	Entry
	name string
}

// entries returns the entries of an item's value, pruned, in canonical order.
func entries(item resolve.Item, problems *schema.Problems) []namedEntry {
	var found []namedEntry
	switch content := item.Value.(type) {
	case map[string]any:
		for _, name := range tree.SortedKeys(content) {
			if content[name] != nil {
				found = append(found, namedEntry{Entry{Value: prune(content[name]), Pointer: item.Source + schema.Pointer(name)}, name})
			}
		}
	case []any:
		for i, element := range content {
			at := item.Source + schema.Pointer(fmt.Sprint(i))
			name, err := entryName(item.Schema, element)
			if err != nil {
				problems.Add(at, "%s", err)
				continue
			}
			found = append(found, namedEntry{Entry{Value: prune(element), Pointer: at}, name})
		}
	default:
		problems.Add(item.Source, "%s where a map of entries is expected: write {<entry>: …}", wording.Kind(item.Value))
	}
	return found
}

// entryName returns the name of a list's element: the fields that the key's
// schema lists under x-entry-name.
func entryName(keySchema *schema.Schema, element any) (string, error) {
	alternatives := keySchema.EntryNames()
	object, isObject := element.(map[string]any)
	if len(alternatives) == 0 {
		return "", fmt.Errorf("a list, whose elements this key's schema does not name (x-entry-name): use a map of entries")
	}
	if !isObject {
		return "", fmt.Errorf("%s where an object is expected", wording.Kind(element))
	}
	for _, fields := range alternatives {
		if name, complete := joined(object, fields); complete {
			return name, nil
		}
	}
	wanted := make([]string, len(alternatives))
	for i, fields := range alternatives {
		wanted[i] = strings.Join(fields, " and ")
	}
	return "", fmt.Errorf("an element of a list is named by its %s, which has to be a string here: add it, or use a map of entries", strings.Join(wanted, ", or else its "))
}

func joined(object map[string]any, fields []string) (string, bool) {
	parts := make([]string, len(fields))
	for i, field := range fields {
		part, isString := object[field].(string)
		if !isString || part == "" {
			return "", false
		}
		parts[i] = part
	}
	return strings.Join(parts, "/"), true
}

// prune returns a value without null members and empty objects in objects, which
// are not stored; elements of lists stay. The outermost value stays, also when empty.
func prune(v any) any {
	object, isObject := v.(map[string]any)
	if !isObject {
		return v
	}
	kept := make(map[string]any, len(object))
	for name, member := range object {
		pruned := prune(member)
		if inner, isObject := pruned.(map[string]any); pruned == nil || isObject && len(inner) == 0 {
			continue
		}
		kept[name] = pruned
	}
	return kept
}

// Names returns the names of the keys, sorted.
func (s Shaped) Names() []string {
	return tree.SortedKeys(s.Keys)
}
