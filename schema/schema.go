package schema

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled schema, safe for concurrent use: validations with one
// Schema run one after the other, because they share the count of their work.
type Schema struct {
	document any
	raw      []byte
	names    [][]string
	open     bool

	mu       sync.Mutex
	meter    *meter
	compiled *jsonschema.Schema
	graph    *graph
}

// Validate returns everything that is wrong with v, a JSON-native tree, or nil.
// The pointers are relative to v. A value of more than 50 000 parts, 32 levels or
// 1 MiB of text, or one that would take too long to check, has one problem that
// says so.
func (s *Schema) Validate(v any) Problems {
	problems := s.validate(v, nil, nil)
	if len(problems) == 0 {
		return nil
	}
	return problems.Sorted()
}

// validate returns all problems, in no order. It takes what it does off the
// budget, if any, and ends soon after ended returns an error.
func (s *Schema) validate(v any, budget *Budget, ended func() error) Problems {
	size, problems := instanceBounds.check(v)
	if len(problems) > 0 {
		return problems
	}
	failure, problems := s.run(v, size.depth, budget, ended)
	if failure != nil {
		explain := explainer{graph: s.graph, open: s.open}
		problems = explain.problems(failure)
	}
	return problems
}

func (s *Schema) run(v any, depth int, budget *Budget, ended func() error) (failure *jsonschema.ValidationError, problems Problems) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.start(depth, ended)
	budget.limit(s.meter)
	steps, matches := s.meter.steps, s.meter.matches
	defer func() {
		budget.spend(s.meter, steps, matches)
		switch recover().(type) {
		case nil:
		case tooCostly:
			message := "is too costly to validate"
			if steps < maxSteps || matches < maxMatches {
				message += " beside the other values of the request"
			}
			failure, problems = nil, Problems{{Message: message + "; make the value smaller or its schema simpler"}}
		default:
			failure, problems = nil, Problems{{Message: "cannot be validated with this schema"}}
		}
	}()
	if err := s.compiled.Validate(v); err != nil && !errors.As(err, &failure) {
		return nil, Problems{{Message: "cannot be validated with this schema"}}
	}
	return failure, nil
}

// EntryNames returns the ways to name an entry of a list, from x-entry-name: the
// first whose fields an item has is used, its fields joined by "/". nil when
// the schema has none, so that only a map of entries is accepted.
func (s *Schema) EntryNames() [][]string {
	names := make([][]string, len(s.names))
	for i, fields := range s.names {
		names[i] = slices.Clone(fields)
	}
	return names[:len(names):len(names)]
}

// Unchecked says whether the schema accepts everything, as {} and true do.
func (s *Schema) Unchecked() bool {
	return s.compiled.Bool != nil && *s.compiled.Bool
}

// Document returns a copy of the schema in JSON-native form.
func (s *Schema) Document() any { return copyTree(s.document) }

// Raw returns the schema as JSON.
func (s *Schema) Raw() []byte { return slices.Clone(s.raw) }

// maxEntryNames is how many fields name an entry, and how many ways there are.
const maxEntryNames = 8

// entryNames reads x-entry-name: an array of field names, or an array of such
// arrays when there are alternatives.
func entryNames(document any) ([][]string, Problems) {
	object, _ := document.(map[string]any)
	value, has := object["x-entry-name"]
	if !has {
		return nil, nil
	}
	alternatives, _ := value.([]any)
	if len(alternatives) > 0 {
		if _, flat := alternatives[0].(string); flat {
			alternatives = []any{value}
		}
	}
	var names [][]string
	for _, alternative := range alternatives {
		fields, _ := alternative.([]any)
		var list []string
		for _, field := range fields {
			if name, ok := field.(string); ok && name != "" {
				list = append(list, name)
			}
		}
		if len(list) == 0 || len(list) != len(fields) || len(list) > maxEntryNames {
			names = nil
			break
		}
		names = append(names, list)
	}
	if len(names) == 0 || len(names) > maxEntryNames {
		return nil, Problems{{"/x-entry-name", fmt.Sprintf(
			"has to be an array of 1 to %d field names, or an array of such arrays", maxEntryNames)}}
	}
	return names, nil
}
