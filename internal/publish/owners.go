package publish

import (
	"bytes"
	"slices"

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
		if err := set.FromJSON(bytes.NewReader(entry.FieldsV1.Raw)); err != nil {
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

// has says whether the owner has the entry itself or a leaf of it.
func (o owner) has(place check.Place) bool {
	key := within(o.fields, place.Key)
	return key.Members.Has(fieldpath.PathElement{FieldName: &place.Entry}) || !within(key, place.Entry).Empty()
}

// hasKey says whether the owner has the key's value itself.
func (o owner) hasKey(key string) bool {
	return o.fields.Members.Has(fieldpath.PathElement{FieldName: &key})
}

// ours returns the producer's owner name, if the manager is one of ours.
func (o owner) ours() (string, bool) {
	if !o.applies {
		return "", false
	}
	return decode.OwnerOf(o.name)
}

// at returns who has an entry: those with a leaf at or below it, and, where the
// live value of the key is no map, those with the key. When no producer is among
// them, though the entry stands, its producers are those that list it in their
// provenance: managedFields can be cleared by anybody.
func (l liveState) at(place check.Place) []owner {
	_, isMap := l.metadata[place.Key].(map[string]any)
	found := slices.DeleteFunc(slices.Clone(l.owners), func(o owner) bool {
		return !o.has(place) && (isMap || !o.hasKey(place.Key))
	})
	byProducer := func(o owner) bool { _, ours := o.ours(); return ours }
	if l.entry(place) == nil || slices.ContainsFunc(found, byProducer) {
		return found
	}
	for name, provenance := range l.provenances {
		if slices.Contains(provenance.entries[place.Key], place.Entry) {
			found = append(found, owner{name: decode.Manager(name), applies: true})
		}
	}
	slices.SortStableFunc(found, func(a, b owner) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	return found
}
