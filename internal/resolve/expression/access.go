package expression

import (
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// member reads a member of an object, nil if it has none of that name, or an item
// of a list, counted from the end if the index is negative.
func member(c call, args []any) (any, error) {
	switch from := args[0].(type) {
	case absent:
		return from, nil
	case nil:
		return nil, c.missing(c.site.at, c.site.operands[0])
	case map[string]any:
		name, ok := args[1].(string)
		if !ok {
			return nil, c.fail("%s is an object, read by a name, not by %s", c.part(), wording.Kind(args[1]))
		}
		return from[name], c.charge(len(name))
	case []any:
		if wording.Kind(args[1]) != "a number" {
			return nil, c.fail("%s is a list, read by a number, not by %s; map(list, .name) reads a member of every item", c.part(), wording.Kind(args[1]))
		}
		return c.item(from, args)
	case string:
		return nil, c.fail("%s is a string, which has no members; a part of it is read as text[0:1]", c.part())
	}
	return nil, c.fail("%s is %s, which has no members", c.part(), wording.Kind(args[0]))
}

// part is what a member is read of, as written.
func (c call) part() string { return render(c.site.operands[0]) }

func (c call) item(list []any, args []any) (any, error) {
	index, ok := toIndex(args[1])
	if ok && index < 0 {
		index += len(list)
	}
	if !ok || index < 0 || index >= len(list) {
		return nil, c.fail("the index is out of range: %s has %d items", c.part(), len(list))
	}
	return list[index], nil
}

// toIndex returns a number as an int; not if it is fractional.
func toIndex(number any) (int, bool) {
	integer, ok := tree.Canonical(number).(int64)
	return int(integer), ok
}

func nothing(_ call, args []any) (any, error) {
	return args[0] == nil || args[0] == any(absent{}), nil
}

// chain ends an optional chain: what met nil on the way is nil.
func chain(_ call, args []any) (any, error) {
	if _, ok := args[0].(absent); ok {
		return nil, nil
	}
	return args[0], nil
}

// key checks the computed name of an object's member.
func key(c call, args []any) (any, error) {
	name, ok := args[0].(string)
	if !ok {
		return nil, c.wrong(0, "a string as the name of a member", args[0])
	}
	return name, c.charge(len(name))
}

// sliced returns a part of a list, or of a string by bytes, with bounds clipped
// as in expr.
func sliced(c call, args []any) (any, error) {
	length := 0
	switch from := args[0].(type) {
	case string:
		length = len(from)
	case []any:
		length = len(from)
	default:
		return nil, c.wrong(0, "a list or a string", args[0])
	}
	bounds := [2]int{0, length}
	for i := range bounds {
		if _, omitted := args[i+1].(absent); omitted {
			continue
		}
		bound, err := c.integer(args, i+1)
		if err != nil {
			return nil, err
		}
		if bound < 0 {
			bound += length
		}
		bounds[i] = max(0, min(bound, length))
	}
	from, to := min(bounds[0], bounds[1]), bounds[1]
	if list, ok := args[0].([]any); ok {
		return list[from:to:to], c.charge(slot)
	}
	text := args[0].(string)[from:to]
	if err := c.charge(len(text)); err != nil {
		return nil, err
	}
	if !utf8.ValidString(text) {
		return nil, c.fail("cuts a character in two; it counts bytes")
	}
	return text, nil
}

// missing returns the error for a part of the expression that is nil.
func (r *run) missing(at int, part ast.Node) *Missing {
	line, column := r.program.source.position(at)
	err := &Missing{
		Expression: r.program.source.text, Line: line, Column: column, Part: render(part),
		Available: aliases(r.env.Outputs),
	}
	outputs := r.env.Outputs
	root, alias := origin(part)
	if root == "task" {
		outputs = r.taskOutputs()
		err.Available = aliases(outputs)
		if outputs == nil {
			err.Hint = "the step's alias is not within a task (task::step), so there is no task"
			return err
		}
	}
	if _, exists := outputs[alias]; alias != "" && !exists {
		err.Hint = "no step has an output under this alias; it may have been skipped, or not have run yet" + similar(root, alias, outputs)
		err.listed = true
	}
	return err
}

// aliases returns the aliases of outputs, sorted; nil for so many that they say
// nothing, and are much to sort.
func aliases(outputs map[string]any) []string {
	if len(outputs) > maxAliases {
		return nil
	}
	return tree.SortedKeys(outputs)
}

func similar(root, alias string, outputs map[string]any) string {
	best := wording.Nearest(alias, aliases(outputs))
	if best == "" {
		for _, name := range aliases(outputs) {
			if strings.HasPrefix(name, alias+"-") {
				best = name
				break
			}
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + quoteAlias(root, best) + "?"
}

func quoteAlias(root, alias string) string {
	if root == "task" {
		root = "task.outputs"
	}
	return render(&ast.MemberNode{Node: &ast.IdentifierNode{Value: root}, Property: &ast.StringNode{Value: alias}})
}

// origin returns the variable that a chain of members begins with, outputs or
// task, and the alias that it reads, if any.
func origin(node ast.Node) (root, alias string) {
	var names []string
	for {
		switch n := node.(type) {
		case *ast.ChainNode:
			node = n.Node
		case *ast.MemberNode:
			name, ok := n.Property.(*ast.StringNode)
			if !ok {
				names = append(names, "")
			} else {
				names = append(names, name.Value)
			}
			node = n.Node
		case *ast.IdentifierNode:
			return n.Value, aliasOf(n.Value, names)
		default:
			return "", ""
		}
	}
}

// aliasOf takes the names from the last to the first.
func aliasOf(root string, names []string) string {
	last := len(names) - 1
	switch {
	case root == "outputs" && last >= 0:
		return names[last]
	case root == "task" && last >= 1 && names[last] == "outputs":
		return names[last-1]
	}
	return ""
}
