package offline

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scheme serves the field manager, whose objects are all unstructured and of one
// version: nothing is converted or defaulted.
type scheme struct{}

func (scheme) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}

func (scheme) Default(runtime.Object) {}

func (scheme) Convert(in, out, _ any) error {
	return fmt.Errorf("%T cannot be converted to %T", in, out)
}

func (scheme) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (scheme) ConvertFieldLabel(_ schema.GroupVersionKind, label, text string) (string, string, error) {
	return label, text, nil
}
