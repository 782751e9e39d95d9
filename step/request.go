package step

import (
	"maps"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// Request is what one run receives. The parts are trees as encoding/json makes
// them, or any Go maps, slices, strings, numbers and booleans; they are read,
// never changed.
type Request struct {
	// Context is Kargo's ctx object; project and stage are required, and so is
	// meta.step.alias where the config names no producer.
	Context any
	// Outputs is Kargo's outputs object: step alias -> output.
	Outputs any
	// Config is the step's configuration; schema.Config describes it.
	Config any
	// unknown are members that a request does not have, for the report.
	unknown map[string]any
}

// ParseRequest reads a request document, JSON or YAML 1.2, of at most
// 4 MiB. The error is an *Error of kind Invalid or TooLarge. What the members
// hold is checked by Run, with everything else.
func ParseRequest(source []byte) (Request, error) {
	tree, err := document.Parse(source)
	if err != nil {
		return Request{}, err
	}
	return NewRequest(tree)
}

// NewRequest returns the request of a document that is read already, a tree as
// encoding/json makes it. The error is an *Error of kind Invalid.
func NewRequest(tree any) (Request, error) {
	members, isObject := tree.(map[string]any)
	if !isObject {
		return Request{}, fault.New(fault.Invalid, "request", "it is not an object: write {context: …, outputs: …, config: …}", nil)
	}
	request := Request{Context: members["context"], Outputs: members["outputs"], Config: members["config"]}
	request.unknown = maps.Clone(members)
	for _, known := range []string{"context", "outputs", "config"} {
		delete(request.unknown, known)
	}
	return request, nil
}

// document returns the request as one object; parts that are nil are left out.
func (r Request) document() map[string]any {
	members := make(map[string]any, 3+len(r.unknown))
	maps.Copy(members, r.unknown)
	for name, part := range map[string]any{"context": r.Context, "outputs": r.Outputs, "config": r.Config} {
		if part != nil {
			members[name] = part
		}
	}
	return members
}
