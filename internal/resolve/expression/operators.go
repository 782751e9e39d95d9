package expression

import (
	"github.com/expr-lang/expr/vm/runtime"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// operators are the hidden functions that no expression calls by name.
var operators = map[string]implementation{
	"step": loopStep, "list": loopList, "bool": boolean, "int": nativeInt,
	"fromEnd": fromEnd, "groupKey": groupKey, "groups": groups, "sortKey": sortKey, "order": order,
	"member": member, "nothing": nothing, "chain": chain, "slice": sliced, "key": key,
	"==": equal, "!=": unequal, "in": in,
	"<":        comparison(runtime.Less),
	">":        comparison(runtime.More),
	"<=":       comparison(runtime.LessOrEqual),
	">=":       comparison(runtime.MoreOrEqual),
	"contains": textOperator(contains), "startsWith": textOperator(startsWith), "endsWith": textOperator(endsWith),
	"matches": matches, "..": ranged,
	"+": plus, "-": arithmetic(subtract), "*": arithmetic(multiply), "/": arithmetic(divide),
	"%": arithmetic(modulo), "**": arithmetic(power), "^": arithmetic(power),
	"unary-": negate, "unary+": positive,
}

func boolean(c call, args []any) (any, error) {
	if truth, ok := args[0].(bool); ok {
		return truth, nil
	}
	return nil, c.wrong(0, "a boolean", args[0])
}

// equal compares numbers by value, also inside lists and objects.
func equal(c call, args []any) (any, error) {
	if err := c.chargePair(args[0], args[1]); err != nil {
		return nil, err
	}
	return tree.Equal(args[0], args[1]), nil
}

func unequal(c call, args []any) (any, error) {
	same, err := equal(c, args)
	if err != nil {
		return nil, err
	}
	return !same.(bool), nil
}

// chargePair charges a comparison, which ends at the end of the smaller value: a
// scalar costs little beside a tree.
func (c call) chargePair(a, b any) error {
	if isTree(a) != isTree(b) {
		return c.charge(slot)
	}
	if isTree(a) {
		if _, err := c.measure(a); err != nil {
			return err
		}
		_, err := c.measure(b)
		return err
	}
	first, _ := a.(string)
	second, _ := b.(string)
	return c.charge(slot + min(len(first), len(second)))
}

func isTree(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// in looks for a value in a list, or for a name in an object.
func in(c call, args []any) (any, error) {
	switch collection := args[1].(type) {
	case []any:
		if _, err := c.measure(args[0]); err != nil {
			return nil, err
		}
		if _, err := c.measure(collection); err != nil {
			return nil, err
		}
		for _, item := range collection {
			if tree.Equal(args[0], item) {
				return true, nil
			}
		}
		return false, nil
	case map[string]any:
		name, ok := args[0].(string)
		if !ok {
			return nil, c.wrong(0, "a name to look for in an object", args[0])
		}
		_, found := collection[name]
		return found, c.charge(len(name))
	}
	return nil, c.wrong(1, "a list or an object", args[1])
}

func comparison(compare func(a, b any) bool) implementation {
	return func(c call, args []any) (any, error) {
		if err := c.comparable(args[0], args[1]); err != nil {
			return nil, err
		}
		if err := c.chargePair(args[0], args[1]); err != nil {
			return nil, err
		}
		return compare(args[0], args[1]), nil
	}
}

const ordered = "two numbers or two strings"

func (c call) comparable(a, b any) error {
	for i, operand := range []any{a, b} {
		if wording.Kind(operand) != "a number" && wording.Kind(operand) != "a string" {
			return c.wrong(i, ordered, operand)
		}
	}
	if wording.Kind(a) != wording.Kind(b) {
		return c.fail("takes %s, got %s and %s", ordered, wording.Kind(a), wording.Kind(b))
	}
	return nil
}

// ranged makes the list a..b, empty if b is less than a.
func ranged(c call, args []any) (any, error) {
	from, err := c.integer(args, 0)
	if err != nil {
		return nil, err
	}
	to, err := c.integer(args, 1)
	if err != nil || to < from {
		return []any{}, err
	}
	count := uint64(to) - uint64(from) // one less, which cannot overflow
	if count > maxBytes {
		count = maxBytes
	}
	if err := c.charge(times(2*slot, int(count)+1)); err != nil {
		return nil, err
	}
	list := make([]any, count+1)
	for i := range list {
		list[i] = int64(from + i)
	}
	return list, nil
}
