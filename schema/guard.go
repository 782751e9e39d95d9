package schema

import (
	"errors"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// The reasons of a guard, besides errFormat and the texts of ownFormats.
var (
	errConst = errors.New("const")
	errEnum  = errors.New("enum")
)

// guard takes the place of a schema's format, the one thing that the library
// evaluates before it goes into members, items and references. It pays for the
// evaluation first. Const and enum move into it, because the library compares
// them before the format, unpaid.
type guard struct {
	meter    *meter
	own      int // the size of the schema without its subschemas
	hasConst bool
	constant any
	enum     []any // nil without enum
	format   *jsonschema.Format
}

// install puts a guard before every schema of the graph. Boolean and empty
// schemas need none: they are paid for by the schema that holds them.
func (g *graph) install(m *meter) {
	for _, n := range g.ordered {
		s := n.compiled
		if s.Bool != nil {
			continue
		}
		gate := &guard{meter: m, own: len(n.document) + len(s.Required) + len(s.PatternProperties), format: s.Format}
		if s.Const != nil {
			gate.hasConst, gate.constant = true, *s.Const
			gate.own += countNodes(gate.constant)
			s.Const = nil
		}
		if s.Enum != nil {
			gate.enum = s.Enum.Values
			gate.own += countNodes(gate.enum)
			s.Enum = nil
		}
		for _, names := range s.DependentRequired {
			gate.own += 1 + len(names)
		}
		for _, names := range s.Dependencies {
			list, _ := names.([]string)
			gate.own += 1 + len(list)
		}
		if s.DynamicRef != nil || s.RecursiveRef != nil {
			// The library searches all schemas that led here for the target.
			gate.own += maxInPlaceChain
		}
		if s.MultipleOf != nil {
			// A division of fractions with hundreds of digits.
			gate.own += stepsPerDivision
		}
		name := "guard"
		if s.Format != nil {
			name = s.Format.Name
			// The library evaluates the format regex with its own function.
			if name == "regex" {
				name = "guarded-regex"
			}
		}
		s.Format = &jsonschema.Format{Name: name, Validate: gate.check}
		s.Extensions = append(s.Extensions, extensions(s, m)...)
	}
}

// check pays for one evaluation and compares v with const, enum and format.
func (g *guard) check(v any) error {
	steps := 1 + g.own
	switch v := v.(type) {
	case string:
		steps += len(v) / bytesPerStep
	case []any:
		steps += len(v)
	case map[string]any:
		steps += len(v)
	}
	g.meter.charge(steps)
	if g.hasConst && !tree.Equal(v, g.constant) {
		return errConst
	}
	if g.enum != nil && !slices.ContainsFunc(g.enum, func(allowed any) bool { return tree.Equal(v, allowed) }) {
		return errEnum
	}
	if g.format == nil {
		return nil
	}
	return g.format.Validate(v)
}

// extensions takes over the keywords that the library evaluates in a way that
// hostile values make slow, or with a wrong JSON Pointer.
func extensions(s *jsonschema.Schema, m *meter) []jsonschema.SchemaExt {
	var all []jsonschema.SchemaExt
	if s.UniqueItems {
		s.UniqueItems = false
		all = append(all, uniqueItems{m})
	}
	if s.PropertyNames != nil {
		all = append(all, propertyNames{s.PropertyNames})
		s.PropertyNames = nil
	}
	return all
}

// uniqueItems compares items by a text of their own: the hash of the library
// is the same for many different arrays of strings.
type uniqueItems struct{ meter *meter }

func (u uniqueItems) Validate(ctx *jsonschema.ValidatorContext, v any) {
	items, ok := v.([]any)
	if !ok {
		return
	}
	seen := make(map[string]int, len(items))
	var buffer []byte
	for i, item := range items {
		buffer = identity(buffer[:0], item)
		u.meter.charge(countNodes(item) + len(buffer)/bytesPerStep)
		if first, duplicate := seen[string(buffer)]; duplicate {
			ctx.AddError(&kind.UniqueItems{Duplicates: [2]int{first, i}})
			return
		}
		seen[string(buffer)] = i
	}
}

// propertyNames checks the names of members, each at its own place: the place
// that the library reports is that of another member.
type propertyNames struct{ schema *jsonschema.Schema }

func (p propertyNames) Validate(ctx *jsonschema.ValidatorContext, v any) {
	object, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, name := range tree.SortedKeys(object) {
		if err := ctx.Validate(p.schema, name, []string{name}); err != nil {
			var failure *jsonschema.ValidationError
			if errors.As(err, &failure) {
				ctx.AddErrors([]*jsonschema.ValidationError{failure}, &kind.PropertyNames{Property: name})
			}
		}
	}
}

// itemNames returns "2 and 5" for the indices of two equal items.
func itemNames(duplicates [2]int) string {
	return strconv.Itoa(duplicates[0]) + " and " + strconv.Itoa(duplicates[1])
}
