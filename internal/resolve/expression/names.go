package expression

import (
	"fmt"
	"iter"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

var roots = []string{"ctx", "outputs", "task"}

// foreign are names that people expect from elsewhere.
var foreign = map[string]string{
	"null": "write nil", "undefined": "write nil", "None": "write nil", "True": "write true", "False": "write false",
	"vars": "use ${{ vars }} in another field", "secrets": "secrets are never published",
	"secret": "secrets are never published", "quote": "results keep their types; nothing needs quoting",
	"$env": "name what it holds: ctx, outputs or task",
}

const noTime = ": the same input gives the same result at any time"

// timeless says why some functions of expr are left out.
var timeless = map[string]string{"now": noTime, "date": noTime, "duration": ": there is no type for it; use a number or a string", "timezone": noTime}

func (p *patcher) identifier(n *ast.IdentifierNode) ast.Node {
	if slices.Contains(roots, n.Value) || slices.Contains(p.locals, n.Value) {
		return &ast.IdentifierNode{Value: n.Value}
	}
	if _, ok := functionsByName[n.Value]; ok {
		return p.fail(n, "%s is a function; call it: %s", n.Value, functionsByName[n.Value].Signature)
	}
	return p.unknown(n, n.Value, slices.Values(append(slices.Clone(p.locals), roots...)))
}

func (p *patcher) unknown(n ast.Node, name string, known iter.Seq[string]) ast.Node {
	hint := p.source.hyphen(n.Location().From)
	if hint != "" {
		hint = "; " + hint
	} else if text, ok := foreign[name]; ok {
		hint = "; " + text
	} else {
		hint = suggestion(name, known, "")
	}
	return p.fail(n, "unknown name %s%s", shortened(name), hint)
}

// suggestion returns "; did you mean x?" with the nearest of the known names, or
// "" if none is near.
func suggestion(name string, known iter.Seq[string], prefix string) string {
	if best := wording.Nearest(name, slices.Collect(known)); best != "" {
		return fmt.Sprintf("; did you mean %s%s?", prefix, best)
	}
	return ""
}

func (p *patcher) let(n *ast.VariableDeclaratorNode) ast.Node {
	_, isFunction := functionsByName[n.Name]
	switch {
	case slices.Contains(roots, n.Name), n.Name == "$env":
		return p.fail(n, "let %s: the name is taken; choose another", n.Name)
	case isFunction:
		return p.fail(n, "let %s: a function has this name; choose another", n.Name)
	case slices.Contains(p.locals, n.Name):
		return p.fail(n, "let %s: the variable is there already; choose another name", n.Name)
	}
	bound := p.node(n.Value)
	p.locals = append(p.locals, n.Name)
	body := p.node(n.Expr)
	p.locals = p.locals[:len(p.locals)-1]
	return &ast.VariableDeclaratorNode{Name: n.Name, Value: bound, Expr: body}
}

func (p *patcher) function(n *ast.CallNode) ast.Node {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return p.fail(n, "%s is data, not a function", render(n.Callee))
	}
	f, ok := functionsByName[callee.Value]
	if !ok {
		if _, exists := builtin.Index[callee.Value]; exists {
			return p.fail(n, "%s is not available here%s", callee.Value, timeless[callee.Value])
		}
		return p.unknown(n, callee.Value, functionNames())
	}
	if count := len(n.Arguments); count < f.fewest || f.most >= 0 && count > f.most {
		return p.fail(n, "%s is called with %d arguments; it is %s", f.Name, count, f.Signature)
	}
	return p.call(callPrefix+f.Name, siteOf(n, f.Name, n.Arguments...), p.each(n.Arguments)...)
}
