package schema

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// Bounds of what one value can cost at one place, whatever the value is: the
// schemas that are applied to the same value as a schema is, and the longest
// chain of them.
const (
	maxInPlace      = 2000
	maxInPlaceChain = 64
)

// node is one compiled schema.
type node struct {
	compiled *jsonschema.Schema
	pointer  string
	document map[string]any // nil for a boolean
	inPlace  []*jsonschema.Schema
}

// graph is all compiled schemas that the roots reach, by their location.
type graph struct {
	nodes    map[string]*node
	ordered  []*node
	problems Problems
	cost     map[*node]int
	chain    map[*node]int
	cyclic   map[*node]bool
}

// newGraph walks the compiled schemas. A problem is a schema that is not one of
// the places, which were looked at before compiling.
func newGraph(roots []*jsonschema.Schema, places map[string]any) *graph {
	g := &graph{nodes: map[string]*node{}, cost: map[*node]int{}, chain: map[*node]int{}, cyclic: map[*node]bool{}}
	queue := slices.Clone(roots)
	for len(queue) > 0 {
		current := queue[0]
		queue = queue[1:]
		if g.nodes[current.Location] != nil {
			continue
		}
		pointer, local := strings.CutPrefix(current.Location, documentURL+"#")
		pointer, err := url.PathUnescape(pointer)
		document, known := places[pointer]
		if !local || !known || err != nil {
			g.problems.Add("", "the schema refers to something that is not a schema of this document")
			return g
		}
		object, _ := document.(map[string]any)
		n := &node{compiled: current, pointer: pointer, document: object, inPlace: inPlace(current)}
		g.nodes[current.Location] = n
		g.ordered = append(g.ordered, n)
		queue = append(append(queue, n.inPlace...), below(current)...)
	}
	return g
}

// check refuses schemas that are applied to one value for ever, or too often.
// Recursion through a member or an item is legal: the value ends it.
func (g *graph) check() Problems {
	if len(g.problems) > 0 {
		return g.problems
	}
	g.followDynamic()
	for _, n := range g.ordered {
		g.measure(n)
	}
	for n := range g.cyclic {
		g.problems.Add(n.pointer, "refers to itself without going into the value, which would never end")
	}
	if len(g.problems) > 0 {
		return g.problems
	}
	for _, n := range g.ordered {
		switch {
		case g.cost[n] > maxInPlace:
			return Problems{{n.pointer, fmt.Sprintf("applies more than %d schemas to one value, references included", maxInPlace)}}
		case g.chain[n] > maxInPlaceChain:
			return Problems{{n.pointer, fmt.Sprintf("applies schemas through a chain of more than %d references or combinations", maxInPlaceChain)}}
		}
	}
	return nil
}

// followDynamic adds every schema that a dynamic reference may lead to.
func (g *graph) followDynamic() {
	for _, n := range g.ordered {
		dynamic := n.compiled.DynamicRef
		if dynamic == nil && n.compiled.RecursiveRef == nil {
			continue
		}
		for _, target := range g.ordered {
			named := dynamic != nil && dynamic.Anchor != "" && target.compiled.DynamicAnchor == dynamic.Anchor
			recursive := n.compiled.RecursiveRef != nil && target.compiled.RecursiveAnchor
			if named || recursive {
				n.inPlace = append(n.inPlace, target.compiled)
			}
		}
	}
}

// measure computes cost and chain of n, both saturated above their bounds, and
// reports a cycle at the schema that closes it.
func (g *graph) measure(n *node) (cost, chain int) {
	const visiting = -1
	if cost, known := g.cost[n]; known {
		if cost == visiting {
			g.cyclic[n] = true
			return 0, 0
		}
		return cost, g.chain[n]
	}
	g.cost[n] = visiting
	cost, chain = 1, 1
	for _, sub := range n.inPlace {
		subCost, subChain := g.measure(g.nodes[sub.Location])
		cost = min(cost+subCost, maxInPlace+1)
		chain = max(chain, min(subChain+1, maxInPlaceChain+1))
	}
	g.cost[n], g.chain[n] = cost, chain
	return cost, chain
}

// inPlace returns the schemas that are applied to the same value as s.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := slices.Concat(s.AllOf, s.AnyOf, s.OneOf)
	subs = append(subs, s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
	if s.DynamicRef != nil {
		subs = append(subs, s.DynamicRef.Ref)
	}
	subs = append(subs, sortedValues(s.DependentSchemas)...)
	for _, name := range tree.SortedKeys(s.Dependencies) {
		if sub, ok := s.Dependencies[name].(*jsonschema.Schema); ok {
			subs = append(subs, sub)
		}
	}
	return slices.DeleteFunc(subs, func(sub *jsonschema.Schema) bool { return sub == nil })
}

// below returns the schemas that are applied to members, items and names.
func below(s *jsonschema.Schema) []*jsonschema.Schema {
	subs := slices.Concat(sortedValues(s.Properties), s.PrefixItems)
	subs = append(subs, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems)
	for _, keyword := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch keyword := keyword.(type) {
		case *jsonschema.Schema:
			subs = append(subs, keyword)
		case []*jsonschema.Schema:
			subs = append(subs, keyword...)
		}
	}
	patterns := make(map[string]*jsonschema.Schema, len(s.PatternProperties))
	for pattern, sub := range s.PatternProperties {
		patterns[pattern.String()] = sub
	}
	subs = append(subs, sortedValues(patterns)...)
	return slices.DeleteFunc(subs, func(sub *jsonschema.Schema) bool { return sub == nil })
}

func sortedValues(schemas map[string]*jsonschema.Schema) []*jsonschema.Schema {
	var values []*jsonschema.Schema
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		values = append(values, schemas[name])
	}
	return values
}
