package offline

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// manifestType is what Kargo's CRDs say of a manifest as far as ownership depends
// on it: status and status.metadata are fields of their own, which a manager does
// not own as a whole and whose removal by one does not remove what others have in
// them. All else has the type that its content suggests, as in an object whose
// unknown fields are preserved.
var manifestType = newManifestType()

func newManifestType() typed.ParseableType {
	const schema = typed.YAMLObject(`types:
- name: manifest
  map:
    fields:
    - name: status
      type: {namedType: status}
    elementType: {namedType: deduced}
- name: status
  scalar: untyped
  map:
    fields:
    - name: metadata
      type: {namedType: metadata}
    elementType: {namedType: deduced}
- name: metadata
  scalar: untyped
  map:
    elementType: {namedType: deduced}
- name: deduced
  scalar: untyped
  list:
    elementType: {namedType: atomic}
    elementRelationship: atomic
  map:
    elementType: {namedType: deduced}
    elementRelationship: separable
- name: atomic
  scalar: untyped
  list:
    elementType: {namedType: atomic}
    elementRelationship: atomic
  map:
    elementType: {namedType: atomic}
    elementRelationship: atomic
`)
	parser, err := typed.NewParser(schema)
	if err != nil {
		panic(err) // the schema is a constant
	}
	return parser.Type("manifest")
}

// converter turns objects into typed values and back.
type converter struct{}

func (converter) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	manifest, isUnstructured := object.(*unstructured.Unstructured)
	if !isUnstructured {
		return nil, fmt.Errorf("%T is not an unstructured object", object)
	}
	return manifestType.FromUnstructured(manifest.Object, options...)
}

func (converter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	content, isObject := value.AsValue().Unstructured().(map[string]any)
	if !isObject {
		return nil, fmt.Errorf("a manifest is an object")
	}
	return &unstructured.Unstructured{Object: content}, nil
}
