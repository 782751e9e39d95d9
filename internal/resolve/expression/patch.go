package expression

import (
	"github.com/expr-lang/expr/ast"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// runName is the variable that holds the *run. Like the names of the hidden
// functions it has a character that no identifier of an expression can have.
const runName = "\x00run"

// patcher rewrites a syntax tree: it makes a new one and leaves the old one,
// from which messages quote. A comparison chain (a < b < c) has one node in two
// places; as a tree, which is what gets compiled, such nests are exponential,
// so the nodes are counted again.
type patcher struct {
	source    *source
	nodes     int
	literals  int               // bytes of the lists and objects that are spelt out
	locals    []string          // let variables in scope
	pointers  []map[string]bool // per predicate: which of #, #index, #acc there are
	variables int               // hidden variables
	words     []string          // strings and member names that are spelt out
	err       *Error            // the first one
}

func (p *patcher) fail(node ast.Node, format string, args ...any) ast.Node {
	if p.err == nil {
		p.err = p.source.failed(node.Location().From, format, args...)
	}
	return &ast.NilNode{}
}

// call returns a call of a hidden function with the run, the site and args.
func (p *patcher) call(name string, s *site, args ...ast.Node) ast.Node {
	hidden := append([]ast.Node{
		&ast.IdentifierNode{Value: runName},
		&ast.ConstantNode{Value: s},
	}, args...)
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: "\x00" + name}, Arguments: hidden}
}

func siteOf(node ast.Node, name string, operands ...ast.Node) *site {
	return &site{name: name, at: node.Location().From, operands: operands}
}

// node returns the rewritten node. After an error it returns anything.
func (p *patcher) node(node ast.Node) ast.Node {
	if p.err != nil || node == nil {
		return &ast.NilNode{}
	}
	if p.nodes++; p.nodes > 2*maxNodes {
		return p.fail(node, "the expression has too many parts; write nested comparisons with &&")
	}
	switch n := node.(type) {
	case *ast.NilNode, *ast.BoolNode:
		return n
	case *ast.IntegerNode:
		return &ast.ConstantNode{Value: int64(n.Value)}
	case *ast.FloatNode:
		return &ast.ConstantNode{Value: tree.Canonical(n.Value)}
	case *ast.StringNode:
		p.words = append(p.words, n.Value)
		return n
	case *ast.IdentifierNode:
		return p.identifier(n)
	case *ast.PointerNode:
		return p.pointer(n)
	case *ast.UnaryNode:
		return p.unary(n)
	case *ast.BinaryNode:
		return p.binary(n)
	case *ast.ConditionalNode:
		return &ast.ConditionalNode{Ternary: n.Ternary, Cond: p.condition(n.Cond, "condition"), Exp1: p.node(n.Exp1), Exp2: p.node(n.Exp2)}
	case *ast.VariableDeclaratorNode:
		return p.let(n)
	case *ast.SequenceNode:
		return &ast.SequenceNode{Nodes: p.each(n.Nodes)}
	case *ast.ArrayNode:
		p.literals += 2*slot + slot*len(n.Nodes)
		return &ast.ArrayNode{Nodes: p.each(n.Nodes)}
	case *ast.MapNode:
		p.literals += 20*slot + 4*slot*len(n.Pairs)
		return &ast.MapNode{Pairs: p.each(n.Pairs)}
	case *ast.PairNode:
		return p.pair(n)
	case *ast.ChainNode:
		return p.call("chain", siteOf(n, ""), p.node(n.Node))
	case *ast.MemberNode:
		return p.member(n)
	case *ast.SliceNode:
		return p.slice(n)
	case *ast.CallNode:
		return p.function(n)
	case *ast.BuiltinNode:
		return p.predicate(n)
	case *ast.BytesNode:
		return p.fail(n, "bytes are not JSON; write a string")
	}
	return p.fail(node, "this is not supported here")
}

func (p *patcher) each(nodes []ast.Node) []ast.Node {
	patched := make([]ast.Node, len(nodes))
	for i, node := range nodes {
		patched[i] = p.node(node)
	}
	return patched
}

func (p *patcher) unary(n *ast.UnaryNode) ast.Node {
	name := n.Operator
	if name == "!" || name == "not" {
		return &ast.UnaryNode{Operator: name, Node: p.condition(n.Node, name)}
	}
	return p.call("unary"+name, siteOf(n, name, n.Node), p.node(n.Node))
}

func (p *patcher) binary(n *ast.BinaryNode) ast.Node {
	switch n.Operator {
	case "&&", "and", "||", "or":
		return &ast.BinaryNode{Operator: n.Operator, Left: p.condition(n.Left, n.Operator), Right: p.condition(n.Right, n.Operator)}
	case "??":
		return &ast.BinaryNode{Operator: n.Operator, Left: p.node(n.Left), Right: p.node(n.Right)}
	}
	s := siteOf(n, n.Operator, n.Left, n.Right)
	if literal, ok := n.Right.(*ast.StringNode); ok && n.Operator == "matches" {
		compiled, err := compilePattern(literal.Value)
		if err != nil {
			return p.fail(literal, "matches: %s", err)
		}
		s.regexp = compiled
	}
	return p.call(n.Operator, s, p.node(n.Left), p.node(n.Right))
}

// condition returns the node, checked to be a boolean when it is evaluated.
func (p *patcher) condition(node ast.Node, name string) ast.Node {
	return p.call("bool", siteOf(node, name, node), p.node(node))
}

func (p *patcher) pair(n *ast.PairNode) ast.Node {
	key := p.node(n.Key)
	if _, literal := n.Key.(*ast.StringNode); !literal {
		key = p.call("key", siteOf(n.Key, "", n.Key), key)
	}
	return &ast.PairNode{Key: key, Value: p.node(n.Value)}
}

// absent is what an optional chain that met nil carries to its end, and an
// omitted bound of a slice.
type absent struct{}

func (p *patcher) member(n *ast.MemberNode) ast.Node {
	s := siteOf(n, "", n.Node)
	if !n.Optional {
		return p.call("member", s, p.node(n.Node), p.node(n.Property))
	}
	// The property of nothing is not evaluated: let v = object; v is nil ? absent : v[property].
	object := p.node(n.Node)
	name := p.variable()
	return &ast.VariableDeclaratorNode{Name: name, Value: object, Expr: &ast.ConditionalNode{
		Cond: p.call("nothing", s, &ast.IdentifierNode{Value: name}),
		Exp1: &ast.ConstantNode{Value: absent{}},
		Exp2: p.call("member", s, &ast.IdentifierNode{Value: name}, p.node(n.Property)),
	}}
}

func (p *patcher) slice(n *ast.SliceNode) ast.Node {
	bound := func(node ast.Node) ast.Node {
		if node == nil {
			return &ast.ConstantNode{Value: absent{}}
		}
		return p.node(node)
	}
	return p.call("slice", siteOf(n, "slice", n.Node, n.From, n.To), p.node(n.Node), bound(n.From), bound(n.To))
}
