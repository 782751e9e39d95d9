package expression

import (
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser/utils"
)

// maxPart is how many bytes of a part of an expression an error shows.
const maxPart = 120

// unnamed stands for a part that is more than a chain of members and calls.
const unnamed = "…"

// render returns a part of an expression as its author would write it, cut
// short where it is long.
func render(node ast.Node) string {
	p := &printer{}
	p.node(node)
	return shortened(p.String())
}

// shortened cuts a text at maxPart bytes.
func shortened(text string) string {
	if len(text) <= maxPart {
		return text
	}
	return strings.ToValidUTF8(text[:maxPart], "") + "…"
}

// printer stops early: printing a tree whole, as often as it has nodes, would
// cost more than evaluating it.
type printer struct{ strings.Builder }

func (p *printer) node(node ast.Node) {
	if p.Len() > maxPart {
		return
	}
	switch n := node.(type) {
	case *ast.NilNode:
		p.WriteString("nil")
	case *ast.BoolNode:
		p.WriteString(strconv.FormatBool(n.Value))
	case *ast.IntegerNode:
		p.WriteString(strconv.Itoa(n.Value))
	case *ast.FloatNode:
		p.WriteString(strconv.FormatFloat(n.Value, 'g', -1, 64))
	case *ast.StringNode:
		p.quoted(n.Value)
	case *ast.IdentifierNode:
		p.WriteString(n.Value)
	case *ast.PointerNode:
		p.WriteString("#" + n.Name)
	case *ast.ChainNode:
		p.node(n.Node)
	case *ast.MemberNode:
		p.member(n)
	case *ast.UnaryNode:
		p.sequence(n.Operator+"(", []ast.Node{n.Node}, ")")
	case *ast.BinaryNode:
		p.operand(n.Left)
		p.WriteString(" " + n.Operator + " ")
		p.operand(n.Right)
	case *ast.CallNode:
		p.node(n.Callee)
		p.sequence("(", n.Arguments, ")")
	case *ast.BuiltinNode:
		p.sequence(n.Name+"(", n.Arguments, ")")
	case *ast.PredicateNode:
		p.node(n.Node)
	case *ast.ArrayNode:
		p.sequence("[", n.Nodes, "]")
	case *ast.SliceNode:
		p.operand(n.Node)
		p.WriteString("[…:…]")
	default:
		p.WriteString(unnamed)
	}
}

func (p *printer) member(n *ast.MemberNode) {
	if pointer, ok := n.Node.(*ast.PointerNode); !ok || pointer.Name != "" {
		p.operand(n.Node)
	} else if !isField(n.Property) {
		p.WriteString("#")
	}
	if n.Optional {
		p.WriteString("?")
	}
	if isField(n.Property) {
		p.WriteString("." + n.Property.(*ast.StringNode).Value)
		return
	}
	if n.Optional {
		p.WriteString(".")
	}
	p.sequence("[", []ast.Node{n.Property}, "]")
}

func isField(property ast.Node) bool {
	name, ok := property.(*ast.StringNode)
	return ok && utils.IsValidIdentifier(name.Value)
}

func (p *printer) operand(node ast.Node) {
	switch node.(type) {
	case *ast.BinaryNode, *ast.ConditionalNode, *ast.VariableDeclaratorNode, *ast.SequenceNode:
		p.sequence("(", []ast.Node{node}, ")")
	default:
		p.node(node)
	}
}

func (p *printer) sequence(open string, nodes []ast.Node, closing string) {
	p.WriteString(open)
	for i, node := range nodes {
		if i > 0 {
			p.WriteString(", ")
		}
		p.node(node)
	}
	p.WriteString(closing)
}

func (p *printer) quoted(text string) {
	if len(text) > maxPart {
		text = strings.ToValidUTF8(text[:maxPart], "")
	}
	quoted := strconv.Quote(text)
	if !strings.ContainsAny(text, `'"\`) {
		quoted = "'" + quoted[1:len(quoted)-1] + "'"
	}
	p.WriteString(quoted)
}
