package expression

import (
	"iter"
	"maps"
	"slices"
	"strings"
)

// Function documents what an expression may call.
type Function struct {
	Name string
	// Signature shows the arguments, those in brackets being optional, and the kind
	// of the result: "split(text, separator[, limit]) list".
	Signature string
	// Doc is one sentence or two, in Markdown.
	Doc string
}

type function struct {
	Function
	fewest, most   int // arguments; most is -1 for any number
	implementation implementation
}

// functionsByName are the functions without a predicate.
var functionsByName = func() map[string]function {
	byName := map[string]function{}
	for _, group := range [][]function{textFunctions, listFunctions, objectFunctions, numberFunctions, encodingFunctions, urlFunctions} {
		for _, f := range group {
			f.Name, _, _ = strings.Cut(f.Signature, "(")
			byName[f.Name] = f
		}
	}
	return byName
}()

// define returns a function whose name the signature begins with.
func define(signature, doc string, fewest, most int, f implementation) function {
	return function{Function: Function{Signature: signature, Doc: doc}, fewest: fewest, most: most, implementation: f}
}

// Functions returns everything that an expression may call, sorted by name.
func Functions() []Function {
	all := slices.Clone(predicateFunctions)
	for i := range all {
		all[i].Name, _, _ = strings.Cut(all[i].Signature, "(")
	}
	for _, f := range functionsByName {
		all = append(all, f.Function)
	}
	slices.SortFunc(all, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func functionNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, names := range []iter.Seq[string]{maps.Keys(functionsByName), maps.Keys(predicates)} {
			for name := range names {
				if !yield(name) {
					return
				}
			}
		}
	}
}

// predicateFunctions are documented here and run by expr's virtual machine.
var predicateFunctions = []Function{
	{Signature: "all(list, predicate) bool", Doc: "Whether the predicate is true for every item."},
	{Signature: "any(list, predicate) bool", Doc: "Whether the predicate is true for an item."},
	{Signature: "one(list, predicate) bool", Doc: "Whether the predicate is true for exactly one item."},
	{Signature: "none(list, predicate) bool", Doc: "Whether the predicate is true for no item."},
	{Signature: "map(list, expression) list", Doc: "The expression's value for every item; `#` is the item, `.name` a member of it, `#index` its position. An object is written `({\"name\": .name})`."},
	{Signature: "filter(list, predicate) list", Doc: "The items for which the predicate is true."},
	{Signature: "find(list, predicate) any", Doc: "The first item for which the predicate is true, else nil."},
	{Signature: "findIndex(list, predicate) number", Doc: "The position of the first item for which the predicate is true, else nil."},
	{Signature: "findLast(list, predicate) any", Doc: "The last item for which the predicate is true, else nil."},
	{Signature: "findLastIndex(list, predicate) number", Doc: "The position of the last item for which the predicate is true, else nil."},
	{Signature: "count(list[, predicate]) number", Doc: "How many items are true, or make the predicate true."},
	{Signature: "sum(list[, expression]) number", Doc: "The sum of the numbers of a list, or of the expression's values."},
	{Signature: "groupBy(list, expression) object", Doc: "The items grouped by the expression's value, which has to be a string."},
	{Signature: "sortBy(list, expression[, order]) list", Doc: "The items sorted by the expression's value, all numbers or all strings; the order is `'asc'` or `'desc'`."},
	{Signature: "reduce(list, expression[, initial]) any", Doc: "The value built up item by item: `#acc` is what there is so far, `#` the item. Without initial value the first item is it."},
}
