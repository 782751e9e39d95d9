package expression

import (
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/expr-lang/expr/vm/runtime"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

var listFunctions = []function{
	define("len(any) number", "How many items a list has, members an object, characters a text.", 1, 1, length),
	define("first(list) any", "The first item, nil if there is none.", 1, 1, end(0)),
	define("last(list) any", "The last item, nil if there is none.", 1, 1, end(-1)),
	define("take(list, count) list", "The first items, at most count.", 2, 2, take),
	define("get(any, key) any", "A member of an object or an item of a list, nil if it is not there.", 2, 2, get),
	define("reverse(list) list", "The items from the last to the first.", 1, 1, reverse),
	define("concat(list, …) list", "The items of all the lists.", 1, -1, concat),
	define("flatten(list) list", "The items, those of lists within it in their place.", 1, 1, flatten),
	define("uniq(list) list", "The items, each once: the first of equal ones.", 1, 1, uniq),
	define("sort(list[, order]) list", "The items sorted, all numbers or all strings; the order is `'asc'` or `'desc'`.", 1, 2, sorted),
}

func length(c call, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		return int64(utf8.RuneCountInString(v)), c.charge(len(v))
	case []any:
		return int64(len(v)), nil
	case map[string]any:
		return int64(len(v)), nil
	}
	return nil, c.wrong(0, "a list, an object or a string", args[0])
}

// end returns the first or the last item; of nil it is nil, as in expr.
func end(index int) implementation {
	return func(c call, args []any) (any, error) {
		if args[0] == nil {
			return nil, nil
		}
		list, ok := args[0].([]any)
		if !ok {
			return nil, c.wrong(0, "a list", args[0])
		}
		if len(list) == 0 {
			return nil, nil
		}
		return list[(index+len(list))%len(list)], nil
	}
}

func take(c call, args []any) (any, error) {
	list, err := c.list(args, 0)
	if err != nil {
		return nil, err
	}
	count, err := c.integer(args, 1)
	if err != nil {
		return nil, err
	}
	if count < 0 {
		return nil, c.fail("cannot take a negative number of items")
	}
	count = min(count, len(list))
	return list[:count:count], nil
}

// get is nil where reading a member would fail, save for a key of the wrong kind.
func get(c call, args []any) (any, error) {
	switch from := args[0].(type) {
	case nil:
		return nil, nil
	case map[string]any:
		name, err := c.text(args, 1)
		return from[name], err
	case []any:
		index, err := c.integer(args, 1)
		if err != nil {
			return nil, err
		}
		if index < 0 {
			index += len(from)
		}
		if index < 0 || index >= len(from) {
			return nil, nil
		}
		return from[index], nil
	}
	return nil, c.wrong(0, "a list or an object", args[0])
}

func reverse(c call, args []any) (any, error) {
	list, err := c.list(args, 0)
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	slices.Reverse(list)
	return list, nil
}

func concat(c call, args []any) (any, error) {
	joined := []any{}
	for i := range args {
		list, err := c.list(args, i)
		if err == nil {
			// Appending copies what there is, at most once for each argument.
			err = c.charge(times(slot, len(joined)))
		}
		if err != nil {
			return nil, err
		}
		joined = append(joined, list...)
	}
	return joined, nil
}

func flatten(c call, args []any) (any, error) {
	list, err := c.list(args, 0)
	if err != nil {
		return nil, err
	}
	if _, err := c.measure(list); err != nil {
		return nil, err
	}
	return flattened([]any{}, list), nil
}

func flattened(flat, list []any) []any {
	for _, item := range list {
		if nested, ok := item.([]any); ok {
			flat = flattened(flat, nested)
		} else {
			flat = append(flat, item)
		}
	}
	return flat
}

// uniq compares scalars by a set, and lists and objects pair by pair, each pair
// charged.
func uniq(c call, args []any) (any, error) {
	list, err := c.list(args, 0)
	if err != nil {
		return nil, err
	}
	if _, err := c.measure(list); err != nil {
		return nil, err
	}
	seen := map[any]bool{}
	var trees []any
	kept := []any{}
	for _, item := range list {
		item = tree.Canonical(item)
		repeated := false
		if isTree(item) {
			if repeated, err = c.among(item, trees); err != nil {
				return nil, err
			}
			trees = append(trees, item)
		} else {
			repeated = seen[item]
			seen[item] = true
		}
		if !repeated {
			kept = append(kept, item)
		}
	}
	return kept, nil
}

func (c call) among(item any, others []any) (bool, error) {
	for _, other := range others {
		if err := c.chargePair(item, other); err != nil {
			return false, err
		}
		if tree.Equal(item, other) {
			return true, nil
		}
	}
	return false, nil
}

func sorted(c call, args []any) (any, error) {
	list, err := c.list(args, 0)
	if err != nil {
		return nil, err
	}
	descending := false
	if len(args) == 2 {
		name, err := order(c, args[1:])
		if err != nil {
			return nil, err
		}
		descending = name == "desc"
	}
	for _, item := range list {
		if err := c.comparable(item, list[0]); err != nil {
			return nil, c.fail("takes a list of all numbers or all strings, got %s and %s (%s)", wording.Kind(list[0]), wording.Kind(item), render(c.site.operands[0]))
		}
	}
	size, err := c.measure(list)
	if err == nil {
		err = c.charge(sortCost(len(list), size))
	}
	if err != nil {
		return nil, err
	}
	sortable := &runtime.Sort{Desc: descending, Array: slices.Clone(list)}
	sort.Sort(sortable)
	return sortable.Array, nil
}
