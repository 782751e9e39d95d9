package expression

import (
	"fmt"
	"maps"

	"github.com/expr-lang/expr/ast"
)

// predicates are expr's functions with a body; the virtual machine runs their
// loops. check is the hidden function that looks at what the body returns.
var predicates = map[string]struct {
	check    string
	pointers []string
	convert  string // the hidden function that makes the result JSON-native
}{
	"all":           {check: "bool"},
	"none":          {check: "bool"},
	"any":           {check: "bool"},
	"one":           {check: "bool"},
	"filter":        {check: "bool"},
	"map":           {pointers: []string{"index"}},
	"count":         {check: "bool", convert: "int"},
	"sum":           {},
	"find":          {check: "bool"},
	"findIndex":     {check: "bool", convert: "int"},
	"findLast":      {check: "bool"},
	"findLastIndex": {check: "bool"},
	"groupBy":       {check: "groupKey", convert: "groups"},
	"sortBy":        {check: "sortKey"},
	"reduce":        {pointers: []string{"index", "acc"}},
}

func (p *patcher) predicate(n *ast.BuiltinNode) ast.Node {
	spec, known := predicates[n.Name]
	if !known || len(n.Arguments) == 0 || len(n.Arguments) > 3 {
		return p.fail(n, "%s is not available", n.Name)
	}
	body := ast.Node(&ast.PointerNode{}) // of count and sum without a predicate
	if len(n.Arguments) > 1 {
		body = n.Arguments[1].(*ast.PredicateNode).Node
	}
	s := siteOf(n, n.Name, n.Arguments[0], body)
	s.first = n.Name == "reduce" && len(n.Arguments) == 2
	loop := &ast.BuiltinNode{Name: n.Name, Arguments: []ast.Node{p.call("list", s, p.node(n.Arguments[0])), p.body(n, s, body)}}
	loop.SetLocation(n.Location())
	switch n.Name {
	case "sum":
		// expr's sum does not see an overflow.
		loop.Name = "reduce"
		loop.Arguments = append(loop.Arguments, &ast.ConstantNode{Value: int64(0)})
	case "findLast", "findLastIndex":
		return p.backwards(loop, s)
	}
	result := ast.Node(loop)
	if spec.convert != "" {
		result = p.call(spec.convert, s, loop)
	}
	if len(n.Arguments) < 3 {
		return result
	}
	// The last argument stands outside the loop: a # in it is that of a loop
	// around this one. The virtual machine would evaluate it inside.
	last := p.node(n.Arguments[2])
	if n.Name == "sortBy" {
		last = p.call("order", siteOf(n, n.Name, n.Arguments[2]), last)
	}
	name := p.variable()
	loop.Arguments = append(loop.Arguments, &ast.IdentifierNode{Value: name})
	return &ast.VariableDeclaratorNode{Name: name, Value: last, Expr: result}
}

// backwards returns findLast as find, in the list reversed: the virtual machine's
// own loop leaves values on its stack, which then are taken for arguments.
func (p *patcher) backwards(loop *ast.BuiltinNode, s *site) ast.Node {
	name := p.variable()
	list := &ast.IdentifierNode{Value: name}
	reversed := p.call(callPrefix+"reverse", s, loop.Arguments[0])
	loop.Arguments[0] = list
	result := ast.Node(loop)
	if loop.Name == "findLast" {
		loop.Name = "find"
	} else {
		loop.Name = "findIndex"
		result = p.call("fromEnd", s, loop, list)
	}
	return &ast.VariableDeclaratorNode{Name: name, Value: reversed, Expr: result}
}

// variable returns the name of a new variable that no expression can spell.
func (p *patcher) variable() string {
	p.variables++
	return fmt.Sprintf("\x00%d", p.variables)
}

// body returns a predicate's body: it charges its own nodes first.
func (p *patcher) body(n *ast.BuiltinNode, s *site, body ast.Node) ast.Node {
	spec := predicates[n.Name]
	pointers := map[string]bool{"": true}
	for _, name := range spec.pointers {
		pointers[name] = true
	}
	p.pointers = append(p.pointers, pointers)
	nodes, literals := p.nodes, p.literals
	patched := p.node(body)
	s.cost, s.literals = p.nodes-nodes, p.literals-literals
	p.pointers = p.pointers[:len(p.pointers)-1]
	if spec.check != "" {
		patched = p.call(spec.check, s.of(body), patched)
	}
	if n.Name == "sum" {
		patched = p.call("+", &site{name: n.Name, at: s.at, operands: []ast.Node{body}}, patched, &ast.PointerNode{Name: "acc"})
	}
	return &ast.PredicateNode{Node: &ast.SequenceNode{Nodes: []ast.Node{p.call("step", s), patched}}}
}

// of returns the site for what a predicate's body returns, which remembers where
// its loop is.
func (s *site) of(body ast.Node) *site {
	return &site{name: s.name, at: s.at, operands: []ast.Node{body}, loop: s}
}

// pointer is #, #index or #acc; .name is the member name of #.
func (p *patcher) pointer(n *ast.PointerNode) ast.Node {
	if len(p.pointers) == 0 {
		return p.fail(n, "# is there only inside a predicate, such as that of map")
	}
	innermost := p.pointers[len(p.pointers)-1]
	if !innermost[n.Name] {
		return p.fail(n, "there is no #%s here%s", n.Name, suggestion(n.Name, maps.Keys(innermost), "#"))
	}
	if n.Name == "index" {
		return p.call("int", siteOf(n, "#index"), &ast.PointerNode{Name: n.Name})
	}
	return &ast.PointerNode{Name: n.Name}
}
