package expression

import "github.com/kargo-steps/publish-metadata/internal/wording"

var objectFunctions = []function{
	define("keys(object) list", "The names of the members, sorted.", 1, 1, keys),
	define("values(object) list", "The values of the members, sorted by name.", 1, 1, values),
	define("toPairs(object) list", "The members as `[name, value]`, sorted by name.", 1, 1, toPairs),
	define("fromPairs(list) object", "The object of a list of `[name, value]`; a name has to be a string and may be there once.", 1, 1, fromPairs),
}

func keys(c call, args []any) (any, error) {
	return c.eachMember(args, func(name string, _ any) any { return name })
}

func values(c call, args []any) (any, error) {
	return c.eachMember(args, func(_ string, member any) any { return member })
}

func toPairs(c call, args []any) (any, error) {
	return c.eachMember(args, func(name string, member any) any { return []any{name, member} })
}

// eachMember returns a list of what item makes of the members, in order of their
// names: expr's own order is random.
func (c call) eachMember(args []any, item func(name string, member any) any) (any, error) {
	object, names, err := c.object(args, 0)
	if err != nil {
		return nil, err
	}
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = item(name, object[name])
	}
	return list, nil
}

func fromPairs(c call, args []any) (any, error) {
	list, err := c.list(args, 0)
	if err != nil {
		return nil, err
	}
	if err := c.charge(times(8*slot, len(list))); err != nil {
		return nil, err
	}
	object := make(map[string]any, len(list))
	for i, item := range list {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			return nil, c.fail("item %d is not a pair [name, value]", i)
		}
		name, ok := pair[0].(string)
		if !ok {
			return nil, c.fail("the name of pair %d is a non-string map key, %s; use string()", i, wording.Kind(pair[0]))
		}
		if err := c.charge(len(name)); err != nil {
			return nil, err
		}
		if _, twice := object[name]; twice {
			return nil, c.fail("the name of pair %d is that of an earlier pair", i)
		}
		object[name] = pair[1]
	}
	return object, nil
}
