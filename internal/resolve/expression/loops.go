package expression

import "github.com/kargo-steps/publish-metadata/internal/wording"

// loopStep begins every evaluation of a predicate's body.
func loopStep(c call, _ []any) (any, error) {
	if err := c.step(c.site.at, 1+c.site.cost); err != nil {
		return nil, err
	}
	return nil, c.charge(c.site.literals)
}

// loopList checks and charges the list that a loop goes over.
func loopList(c call, args []any) (any, error) {
	// The virtual machine keeps what it needs for a loop until the run ends.
	if err := c.charge(16 * slot); err != nil {
		return nil, err
	}
	list, err := c.list(args, 0)
	if err != nil {
		return nil, err
	}
	if c.site.first && len(list) == 0 {
		return nil, c.fail("an empty list needs an initial value, the third argument")
	}
	delete(c.sortKinds, c.site)
	return list, nil
}

// nativeInt makes an int64 of an int of the virtual machine; nil stays nil.
func nativeInt(_ call, args []any) (any, error) {
	if number, ok := args[0].(int); ok {
		return int64(number), nil
	}
	return args[0], nil
}

// fromEnd turns a position in a reversed list into that of the list; nil stays nil.
func fromEnd(_ call, args []any) (any, error) {
	if position, ok := args[0].(int); ok {
		return int64(len(args[1].([]any)) - 1 - position), nil
	}
	return nil, nil
}

// groupKey checks the name of a group.
func groupKey(c call, args []any) (any, error) {
	name, ok := args[0].(string)
	if !ok {
		return nil, c.fail("the key is a non-string map key, %s (%s); group by a string", wording.Kind(args[0]), render(c.site.operands[0]))
	}
	return name, c.charge(8*slot + len(name))
}

// groups makes an object of the virtual machine's groups.
func groups(c call, args []any) (any, error) {
	grouped := args[0].(map[any][]any)
	if err := c.charge(times(8*slot, len(grouped))); err != nil {
		return nil, err
	}
	object := make(map[string]any, len(grouped))
	for name, list := range grouped {
		object[name.(string)] = list
	}
	return object, nil
}

// sortKey checks what sortBy sorts by: all numbers or all strings. It charges the
// comparisons to come.
func sortKey(c call, args []any) (any, error) {
	got := wording.Kind(args[0])
	if got != "a number" && got != "a string" {
		return nil, c.wrong(0, "a number or a string to sort by", args[0])
	}
	if c.sortKinds == nil {
		c.sortKinds = map[*site]string{}
	}
	if before, ok := c.sortKinds[c.site.loop]; ok && before != got {
		return nil, c.fail("sorts by all numbers or all strings, got both (%s)", render(c.site.operands[0]))
	}
	c.sortKinds[c.site.loop] = got
	text, _ := args[0].(string)
	return args[0], c.charge(sortCost(maxSteps, slot+len(text)))
}

func order(c call, args []any) (any, error) {
	if args[0] == "asc" || args[0] == "desc" {
		return args[0], nil
	}
	return nil, c.fail("the order is 'asc' or 'desc'")
}
