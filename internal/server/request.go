package server

import (
	"errors"
	"maps"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/schema"
	"github.com/kargo-steps/publish-metadata/step"
)

// flatMembers are the members of the config that may stand beside the context.
var flatMembers = []string{"metadata", "producer", "settle", "target"}

// received is a request document as it came.
type received struct {
	step.Request
	names names
	// flat says that the members of the config stand beside the context.
	flat bool
}

// receive returns the request of a tree. The members of the config may stand
// beside the context; metadata may then be YAML text, as a variable of a task
// holds it, and null stands for a member that is left out.
func receive(tree any) (r received, err error) {
	members, isObject := tree.(map[string]any)
	if isObject {
		members, r.flat, err = unflatten(members)
		r.names = namesOf(members)
	}
	if err == nil {
		r.Request, err = step.NewRequest(anyOf(members, isObject, tree))
	}
	return r, err
}

func anyOf(members map[string]any, isObject bool, tree any) any {
	if isObject {
		return members
	}
	return tree
}

// unflatten moves the members of the config into one.
func unflatten(members map[string]any) (map[string]any, bool, error) {
	config := make(map[string]any)
	var problems schema.Problems
	_, nested := members["config"]
	rest := maps.Clone(members)
	for _, name := range flatMembers {
		member, given := rest[name]
		delete(rest, name)
		switch {
		case given && nested:
			problems.Add(schema.Pointer(name), "stands beside config: move it into config, or leave config out")
		case member != nil:
			config[name] = member
		}
	}
	if text, isText := config["metadata"].(string); isText {
		list, wrong := listOf(text)
		problems = append(problems, wrong...)
		config["metadata"] = list
	}
	if len(problems) > 0 {
		return rest, true, fault.Of(fault.Invalid, "request", problems)
	}
	if nested || len(config) == 0 {
		return rest, false, nil
	}
	rest["config"] = config
	return rest, true, nil
}

// listOf returns the list that a text holds, YAML or JSON.
func listOf(text string) (any, schema.Problems) {
	tree, err := document.Parse([]byte(text))
	var failure *fault.Error
	switch {
	case errors.As(err, &failure) && len(failure.Problems) > 0:
		return nil, failure.Problems.Under("/metadata")
	case errors.As(err, &failure):
		return nil, schema.Problems{{Pointer: "/metadata", Message: "its text is not YAML: " + failure.Message}}
	}
	if _, isList := tree.([]any); !isList {
		return nil, schema.Problems{{Pointer: "/metadata", Message: "its text is not a list: begin each item with a dash, as in - key: links; [] publishes nothing"}}
	}
	return tree, nil
}

// locate returns err with the pointers of the document that came.
func (r received) locate(err error) error {
	var failure *fault.Error
	if !r.flat || !errors.As(err, &failure) || len(failure.Problems) == 0 {
		return err
	}
	located := *failure
	located.Problems = make(schema.Problems, len(failure.Problems))
	for i, problem := range failure.Problems {
		if rest, found := strings.CutPrefix(problem.Pointer, "/config/"); found {
			problem.Pointer = "/" + rest
		}
		located.Problems[i] = problem
	}
	located.Problems = located.Problems.Sorted()
	return &located
}
