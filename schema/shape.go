package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xeipuuv/gojsonschema"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// patternProblems says what the patterns of the two schemas ask for.
var patternProblems = map[string]string{
	"producer":  "has to be 1 to 111 letters, digits, and _ : - between them",
	"settle":    "has to be 0s to 5s, in seconds or milliseconds, such as 1s or 500ms",
	"name":      "has to be the name of one Kubernetes resource: lower-case letters, digits, - and .",
	"project":   "has to be the name of a project: lower-case letters, digits and -",
	"promotion": "has to be the name of one Kubernetes resource: lower-case letters, digits, - and .",
	"alias":     "has to be one line, without control characters",
	"actor":     "has to be one line, without control characters",
	"stage":     "has to be the name of a Stage: lower-case letters, digits, - and .",
}

// sources are the members of an item of which it has exactly one.
var sources = []string{"value", "fromExpression", "fromStep"}

// explain turns the library's errors into problems in our own words: the
// library's quote values.
func (s *shape) explain(errors []gojsonschema.ResultError) Problems {
	var problems Problems
	notOne := map[string]bool{}
	for _, e := range errors {
		if e.Type() == "number_one_of" {
			notOne[Pointer(tokens(e)...)] = true
		}
	}
	for _, e := range errors {
		path := tokens(e)
		at := Pointer(path...)
		property, _ := e.Details()["property"].(string)
		switch e.Type() {
		case "condition_then":
			// The error that follows says what is missing.
		case "number_one_of":
			problems.Add(at, "exactly one of %s is needed", strings.Join(sources, ", "))
		case "required":
			// The library reports what the nearest alternative misses, too.
			if !notOne[at] || !slices.Contains(sources, property) {
				problems.Add(at, "%s", "missing field "+wording.Name(property))
			}
		case "additional_property_not_allowed":
			problems.Add(at+Pointer(property), "%s", unknownField(property, s.known(path)))
		default:
			problems.Add(at, "%s", s.message(e, path))
		}
	}
	return problems
}

// message words an error about one value.
func (s *shape) message(e gojsonschema.ResultError, path []string) string {
	node := s.find(path)
	switch e.Type() {
	case "invalid_type":
		given, _ := e.Details()["given"].(string)
		if given == "integer" {
			// Every number is a whole one after pruning.
			given = "number"
		}
		return typeProblem(given, typeNames(node["type"]))
	case "enum":
		allowed, _ := node["enum"].([]any)
		return (&explainer{open: true}).enumProblem(allowed)
	case "string_gte":
		return "is empty"
	case "string_lte":
		return fmt.Sprintf("is longer than %v characters", node["maxLength"])
	case "array_max_items":
		return fmt.Sprintf("has more than %v items", node["maxItems"])
	case "pattern":
		if len(path) > 0 && patternProblems[path[len(path)-1]] != "" {
			return patternProblems[path[len(path)-1]]
		}
	}
	return "does not match the schema"
}

// known returns the names of the members that the object at path may have.
func (s *shape) known(path []string) []string {
	properties, _ := s.find(path)["properties"].(map[string]any)
	return slices.Collect(maps.Keys(properties))
}

func typeNames(v any) []string {
	if name, ok := v.(string); ok {
		return []string{name}
	}
	var names []string
	list, _ := v.([]any)
	for _, item := range list {
		if name, ok := item.(string); ok && name != "null" {
			names = append(names, name)
		}
	}
	return names
}

// tokens returns the place of an error. Its names are those of the two schemas,
// so that none holds the separator.
func tokens(e gojsonschema.ResultError) []string {
	const separator = "\x00"
	return strings.Split(e.Context().String(separator), separator)[1:]
}
