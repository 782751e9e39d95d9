package publish

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/decode"
)

// owner is somebody who has fields of the target.
type owner struct {
	// name is the field manager.
	name string
	// applies says that it owns by server-side apply; if not, by update.
	applies bool
	fields  *fieldpath.Set
}

// ownersOf returns who has fields under status.metadata, by managedFields.
func ownersOf(live *unstructured.Unstructured) ([]owner, error) {
	var owners []owner
	for _, entry := range live.GetManagedFields() {
		if entry.FieldsV1 == nil {
			continue
		}
		set := &fieldpath.Set{}
		if err := set.FromJSON(entry.FieldsV1.GetRawReader()); err != nil {
			return nil, err
		}
		fields := within(within(set, "status"), "metadata")
		if !fields.Empty() {
			owners = append(owners, owner{entry.Manager, entry.Operation == metav1.ManagedFieldsOperationApply, fields})
		}
	}
	return owners, nil
}

// within returns the fields below a member.
func within(set *fieldpath.Set, name string) *fieldpath.Set {
	return set.WithPrefix(fieldpath.PathElement{FieldName: &name})
}

// has says whether the owner has the entry, whose live value is given, or a leaf
// of it. Only what holds nothing else is a leaf: who has lost all leaves of an
// object by a forced apply is listed with the object itself for ever.
func (o owner) has(place check.Place, entry any) bool {
	key := within(o.fields, place.Key)
	if object, isObject := entry.(map[string]any); !isObject || len(object) == 0 {
		return key.Members.Has(fieldpath.PathElement{FieldName: &place.Entry}) || !within(key, place.Entry).Empty()
	}
	found := false
	within(key, place.Entry).Iterate(func(path fieldpath.Path) {
		object, isObject := memberOf(entry, path).(map[string]any)
		found = found || !isObject || len(object) == 0
	})
	return found
}

// memberOf returns the value at a path of members, nil where it goes through a list.
func memberOf(v any, path fieldpath.Path) any {
	for _, element := range path {
		object, isObject := v.(map[string]any)
		if !isObject || element.FieldName == nil {
			return nil
		}
		v = object[*element.FieldName]
	}
	return v
}

// hasLeaf says whether the owner has the value at a path below status.metadata.
func (o owner) hasLeaf(path ...string) bool {
	fields, last := o.fields, len(path)-1
	for _, name := range path[:last] {
		fields = within(fields, name)
	}
	return fields.Members.Has(fieldpath.PathElement{FieldName: &path[last]})
}

// hasKey says whether the owner has the key's value itself.
func (o owner) hasKey(key string) bool {
	return o.hasLeaf(key)
}

// ours returns the producer's owner name, if the manager is one of ours.
func (o owner) ours() (string, bool) {
	if !o.applies {
		return "", false
	}
	return decode.OwnerOf(o.name)
}

// having returns who has an entry by managedFields: those with a leaf at or below
// it, and, where the live value of the key is no map, those with the key.
func (l liveState) having(place check.Place) []owner {
	_, isMap := l.metadata[place.Key].(map[string]any)
	return slices.DeleteFunc(slices.Clone(l.owners), func(o owner) bool {
		return !o.has(place, l.entry(place)) && (isMap || !o.hasKey(place.Key))
	})
}

// at returns who has an entry. When no producer has it by managedFields, though
// it stands, its producers are those that list it in their provenance:
// managedFields can be cleared by anybody.
func (l liveState) at(place check.Place) []owner {
	found := l.having(place)
	byProducer := func(o owner) bool { _, ours := o.ours(); return ours }
	if l.entry(place) == nil || slices.ContainsFunc(found, byProducer) {
		return found
	}
	for name, provenance := range l.provenances {
		if slices.Contains(provenance.entries[place.Key], place.Entry) {
			found = append(found, owner{name: decode.Manager(name), applies: true})
		}
	}
	slices.SortStableFunc(found, func(a, b owner) int { return strings.Compare(a.name, b.name) })
	return found
}
