package shape

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/resolve"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
	"github.com/kargo-steps/publish-metadata/schema"
)

// namedEntry is an entry and its name.
type namedEntry struct {
	Entry
	name string
}

// entries returns the entries of an item's value, pruned, in canonical order.
func (s *Shaped) entries(item resolve.Item, key *Key) []namedEntry {
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
				s.Problems.Add(at, "%s", err)
				s.LeaveOut(item.Key)
				key.unnamed(Entry{Value: element, Pointer: at})
				continue
			}
			found = append(found, namedEntry{Entry{Value: prune(element), Pointer: at}, name})
		}
	default:
		s.Problems.Add(item.Source, "%s where a map of entries is expected: write {<entry>: …}", wording.Kind(item.Value))
		s.LeaveOut(item.Key)
	}
	return found
}

// unnamed keeps the element of a list for what else is wrong with it.
func (k *Key) unnamed(element Entry) {
	object, isObject := element.Value.(map[string]any)
	if isObject && k.Schema.EntryNames() != nil && len(k.Unstored) < schema.MaxProblems {
		element.Value = prune(object)
		k.Unstored["element-"+fmt.Sprint(len(k.Unstored))] = element
	}
}

// entryName returns the name of a list's element: the fields that the key's
// schema lists under x-entry-name.
func entryName(keySchema *schema.Schema, element any) (string, error) {
	alternatives := keySchema.EntryNames()
	object, isObject := element.(map[string]any)
	if len(alternatives) == 0 {
		return "", errors.New("a list, whose elements this key's schema does not name (x-entry-name): use a map of entries")
	}
	if !isObject {
		return "", fmt.Errorf("%s where an object is expected", wording.Kind(element))
	}
	for _, fields := range alternatives {
		if name, complete := joined(object, fields); complete {
			return name, ambiguous(object, fields)
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

// ambiguous returns an error for a name that other fields make, too.
func ambiguous(object map[string]any, fields []string) error {
	for _, field := range fields {
		if part, _ := object[field].(string); len(fields) > 1 && strings.Contains(part, "/") {
			return fmt.Errorf("the %s has a /, which parts the fields of the entry's name: use a map of entries", field)
		}
	}
	return nil
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
