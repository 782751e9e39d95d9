package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// alternatives words a value that matches none of the schemas under anyOf or
// oneOf. The schemas for another type are not what was meant, unless all are.
func (x *explainer) alternatives(failure *jsonschema.ValidationError, out *Problems) {
	at := x.at(failure)
	branches := failure.Causes
	got, wants := "", []string(nil)
	meant := slices.DeleteFunc(slices.Clone(branches), func(branch *jsonschema.ValidationError) bool {
		wrong := wrongType(branch, len(failure.InstanceLocation))
		if wrong == nil {
			return false
		}
		got, wants = wrong.Got, append(wants, wrong.Want...)
		return true
	})
	if own := x.worded(failure, ""); own != "" {
		out.Add(at, "%s", own)
		return
	}
	switch {
	case len(branches) == 0:
		out.Add(at, "matches none of the alternatives")
	case len(meant) == 0:
		slices.Sort(wants)
		out.Add(at, "%s", typeProblem(got, slices.Compact(wants)))
	case len(meant) == 1:
		x.explain(meant[0], out)
	default:
		if names := onlyMissing(meant, len(failure.InstanceLocation)); names != nil {
			out.Add(at, "%s", "at least one of these fields is needed: "+wording.List(names, len(names)))
			return
		}
		out.Add(at, "%s", fmt.Sprintf("matches none of the %d alternatives: %s", len(branches), x.summary(meant, at)))
	}
}

// wrongType returns the failure when a branch failed because of the value's type.
func wrongType(branch *jsonschema.ValidationError, depth int) *kind.Type {
	for {
		switch k := branch.ErrorKind.(type) {
		case *kind.Type:
			if len(branch.InstanceLocation) == depth {
				return k
			}
			return nil
		case *kind.Reference, *kind.Group, *kind.AllOf:
			if len(branch.Causes) != 1 {
				return nil
			}
			branch = branch.Causes[0]
		default:
			return nil
		}
	}
}

// onlyMissing returns the names of the fields when each branch misses just
// fields of the value itself, else nil.
func onlyMissing(branches []*jsonschema.ValidationError, depth int) []string {
	var names []string
	for _, branch := range branches {
		required, ok := branch.ErrorKind.(*kind.Required)
		if !ok || len(required.Missing) != 1 || len(branch.InstanceLocation) != depth {
			return nil
		}
		names = append(names, required.Missing[0])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// summary says in short what is wrong by each alternative.
func (x *explainer) summary(branches []*jsonschema.ValidationError, at string) string {
	const most = 3
	var parts []string
	for _, branch := range branches[:min(most, len(branches))] {
		problems := x.problems(branch).Sorted()
		if len(problems) == 0 {
			continue
		}
		part := problems[0]
		part.Pointer = strings.TrimPrefix(part.Pointer, at)
		parts = append(parts, part.String())
	}
	if len(branches) > most {
		parts = append(parts, "...")
	}
	return strings.Join(parts, "; or ")
}
