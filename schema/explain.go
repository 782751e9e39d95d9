package schema

import (
	"errors"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// explainer turns the library's failures into problems in our own words: the
// library's quote values.
type explainer struct {
	graph    *graph // nil when a schema itself was validated
	open     bool   // whether enums and patterns of the schema may be shown
	pointers map[string]string
}

// problems returns all leaves of a failure, unsorted.
func (x *explainer) problems(failure *jsonschema.ValidationError) Problems {
	var out Problems
	x.explain(failure, &out)
	return out
}

func (x *explainer) explain(failure *jsonschema.ValidationError, out *Problems) {
	switch k := failure.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range failure.Causes {
			x.explain(cause, out)
		}
	case *kind.AnyOf:
		x.alternatives(failure, out)
	case *kind.OneOf:
		if k.Subschemas == nil {
			x.alternatives(failure, out)
			return
		}
		out.Add(x.at(failure), "%s", x.worded(failure, "matches more than one of the alternatives under oneOf"))
	case *kind.Required:
		for _, name := range k.Missing {
			out.Add(x.at(failure), "%s", "missing field "+wording.Name(name))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			out.Add(x.at(failure)+Pointer(name), "%s", unknownField(name, x.fields(failure)))
		}
	case *kind.PropertyNames:
		for _, cause := range failure.Causes {
			for _, problem := range x.problems(cause) {
				out.Add(problem.Pointer, "%s", "the name "+wording.Name(k.Property)+" "+problem.Message)
			}
		}
	default:
		out.Add(x.at(failure), "%s", x.message(failure))
	}
}

// at returns the place of a failure. The texts are shared: one place may have
// very many failures.
func (x *explainer) at(failure *jsonschema.ValidationError) string {
	pointer := Pointer(failure.InstanceLocation...)
	if known, found := x.pointers[pointer]; found {
		return known
	}
	if x.pointers == nil {
		x.pointers = map[string]string{}
	}
	x.pointers[pointer] = pointer
	return pointer
}

// fields returns the names of the members that the failed schema describes.
func (x *explainer) fields(failure *jsonschema.ValidationError) []string {
	if n := x.node(failure); n != nil {
		return slices.Collect(maps.Keys(n.compiled.Properties))
	}
	return nil
}

func (x *explainer) node(failure *jsonschema.ValidationError) *node {
	if x.graph == nil {
		return nil
	}
	return x.graph.nodes[failure.SchemaURL]
}

// worded returns the schema's own x-problem when it has one and may be shown,
// else the text.
func (x *explainer) worded(failure *jsonschema.ValidationError, text string) string {
	if n := x.node(failure); n != nil && x.open {
		if own, ok := n.document["x-problem"].(string); ok {
			return own
		}
	}
	return text
}

// message returns the text for a failure without causes of interest.
func (x *explainer) message(failure *jsonschema.ValidationError) string {
	switch k := failure.ErrorKind.(type) {
	case *kind.Type:
		return typeProblem(k.Got, k.Want)
	case *kind.Format:
		return x.guardMessage(failure, k)
	case *kind.Const:
		return "is not the one value that is allowed"
	case *kind.Enum:
		return x.enumProblem(k.Want)
	case *kind.Pattern:
		if x.open {
			return x.worded(failure, "does not match the pattern "+k.Want)
		}
		return "does not match the pattern of its schema"
	case *kind.Not:
		return x.worded(failure, "matches the schema under not, which it must not")
	case *kind.FalseSchema:
		if strings.HasSuffix(failure.SchemaURL, "/unevaluatedProperties") && len(failure.InstanceLocation) > 0 {
			return unknownField(failure.InstanceLocation[len(failure.InstanceLocation)-1], nil)
		}
		return x.worded(failure, "is not allowed here")
	case *kind.Dependency:
		return needed(k.Prop, k.Missing)
	case *kind.DependentRequired:
		return needed(k.Prop, k.Missing)
	case *kind.RefCycle:
		return "cannot be checked: the schema refers to itself without going into the value"
	default:
		return sizeProblem(failure.ErrorKind)
	}
}

// guardMessage words what a guard refused.
func (x *explainer) guardMessage(failure *jsonschema.ValidationError, k *kind.Format) string {
	n := x.node(failure)
	if n == nil {
		return formatProblem(k.Want, errFormat)
	}
	switch {
	case errors.Is(k.Err, errConst):
		return x.worded(failure, "is not the one value that is allowed")
	case errors.Is(k.Err, errEnum):
		allowed, _ := n.document["enum"].([]any)
		return x.worded(failure, x.enumProblem(allowed))
	}
	format, _ := n.document["format"].(string)
	return formatProblem(format, k.Err)
}

// enumProblem lists the allowed values where that may be shown.
func (x *explainer) enumProblem(allowed []any) string {
	const most = 20
	var names []string
	for _, value := range allowed {
		switch value := value.(type) {
		case string:
			names = append(names, wording.Name(value))
		case []any, map[string]any:
			return "is none of the values that are allowed"
		default:
			names = append(names, string(encode(value)))
		}
	}
	if !x.open || len(names) == 0 || len(names) > most {
		return "is none of the values that are allowed"
	}
	if len(names) == 1 {
		return "has to be " + names[0]
	}
	return "has to be one of " + strings.Join(names, ", ")
}

func needed(name string, missing []string) string {
	return "missing field " + wording.List(missing, len(missing)) + ", which goes with " + wording.Name(name)
}

// number shows a limit of a schema.
func number(limit *big.Rat) string {
	if limit.IsInt() && limit.Num().BitLen() < 64 {
		return limit.Num().String()
	}
	value, _ := limit.Float64()
	return string(encode(value))
}
