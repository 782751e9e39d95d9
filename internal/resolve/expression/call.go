package expression

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// call is one call of a function of this package: the run and the place.
type call struct {
	*run
	site *site
}

// implementation computes a call. Its arguments are JSON-native: nil, bool, string,
// int64, float64, []any, map[string]any.
type implementation func(c call, args []any) (any, error)

// callPrefix keeps the functions that an expression calls by name apart from the
// hidden ones.
const callPrefix = "call "

// hidden returns the functions that compiled programs call, by the names that
// only the patcher can write.
func hidden() map[string]*builtin.Function {
	functions := map[string]*builtin.Function{}
	add := func(name string, f implementation) {
		functions["\x00"+name] = &builtin.Function{Name: "\x00" + name, Func: adapted(f)}
	}
	for name, f := range operators {
		add(name, f)
	}
	for _, f := range functionsByName {
		add(callPrefix+f.Name, f.implementation)
	}
	return functions
}

func adapted(f implementation) func(args ...any) (any, error) {
	return func(args ...any) (result any, err error) {
		c := call{run: args[0].(*run), site: args[1].(*site)}
		defer func() {
			if recover() != nil {
				result, err = nil, c.fail("cannot be applied to these values")
			}
		}()
		return f(c, args[2:])
	}
}

func (c call) fail(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if c.site.name != "" {
		message = c.site.name + ": " + message
	}
	return c.program.source.failed(c.site.at, "%s", message)
}

func (c call) charge(bytes int) error { return c.run.charge(c.site.at, bytes) }

func (c call) measure(v any) (int, error) { return c.run.measure(c.site.at, v) }

// wrong says what an argument should be, what it is, and which part that is.
func (c call) wrong(index int, want string, got any) error {
	part := ""
	if index < len(c.site.operands) {
		switch node := c.site.operands[index].(type) {
		case nil, *ast.NilNode, *ast.StringNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode:
		default:
			part = " (" + render(node) + ")"
		}
	}
	hint := ""
	if got == nil {
		if hint = c.program.source.hyphen(c.site.at); hint != "" {
			hint = "; " + hint
		}
	}
	return c.fail("takes %s, got %s%s%s", want, wording.Kind(got), part, hint)
}

// text returns a string argument and charges it.
func (c call) text(args []any, index int) (string, error) {
	text, ok := args[index].(string)
	if !ok {
		return "", c.wrong(index, "a string", args[index])
	}
	return text, c.charge(len(text))
}

// texts returns two string arguments.
func (c call) texts(args []any) (first, second string, err error) {
	if first, err = c.text(args, 0); err == nil {
		second, err = c.text(args, 1)
	}
	return first, second, err
}

// list returns a list argument and charges its items, not what is in them.
func (c call) list(args []any, index int) ([]any, error) {
	list, ok := args[index].([]any)
	if !ok {
		return nil, c.wrong(index, "a list", args[index])
	}
	return list, c.charge(times(slot, len(list)))
}

// object returns an object argument and its sorted names, and charges these.
func (c call) object(args []any, index int) (map[string]any, []string, error) {
	object, ok := args[index].(map[string]any)
	if !ok {
		return nil, nil, c.wrong(index, "an object", args[index])
	}
	if err := c.charge(times(6*slot, len(object))); err != nil {
		return nil, nil, err
	}
	size := 0
	for name := range object {
		size += len(name)
	}
	if err := c.charge(sortCost(len(object), size)); err != nil {
		return nil, nil, err
	}
	return object, tree.SortedKeys(object), nil
}

// integer returns an integral argument.
func (c call) integer(args []any, index int) (int, error) {
	if whole, ok := toIndex(args[index]); ok {
		return whole, nil
	}
	if number, isFloat := args[index].(float64); isFloat {
		if math.Trunc(number) != number {
			return 0, c.fail("takes a whole number, got a fraction")
		}
		return 0, c.fail("takes a whole number, got one that is too large")
	}
	return 0, c.wrong(index, "a whole number", args[index])
}

// redacted replaces in pointers what is neither in the expression's source nor a
// key of the data: a key may have been made from a value.
func (r *run) redacted(problems []problem) []problem {
	known := r.env.Budget.keys
	if known == nil {
		known = map[string]bool{}
		keysOf(r.env.Outputs, known, 0)
		keysOf(r.env.Context, known, 0)
		r.env.Budget.keys = known
	}
	redacted := slices.Clone(problems)
	for i := range redacted {
		tokens := strings.Split(redacted[i].Pointer, "/")
		for j, token := range tokens {
			name := strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
			if j > 0 && !known[name] && !isIndex(name) && !r.program.literal(name) {
				tokens[j] = "*"
			}
		}
		redacted[i].Pointer = strings.Join(tokens, "/")
	}
	return redacted
}

func isIndex(token string) bool {
	return len(token) < 7 && token != "" && strings.Trim(token, "0123456789") == ""
}

// keysOf adds the names of a tree's objects, of a bounded number of values.
func keysOf(v any, keys map[string]bool, depth int) {
	const most = 50_000
	if len(keys) > most || depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			keysOf(item, keys, depth+1)
		}
	case map[string]any:
		for _, name := range tree.SortedKeys(v) {
			keys[name] = true
			keysOf(v[name], keys, depth+1)
		}
	}
}

// literal says whether the name is spelt out as a whole in the source.
func (p *Program) literal(name string) bool { return slices.Contains(p.words, name) }
