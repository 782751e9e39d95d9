package document

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// layout is how a YAML document is indented.
type layout struct {
	indent int
	// wide is for lists that are indented more than the key they belong to.
	wide bool
}

// layoutOf takes the first object in an object and the first list in an object
// for typical; without, it is kubectl's layout.
func layoutOf(root *yaml.Node) layout {
	found := layout{}
	list := false
	var look func(node *yaml.Node)
	look = func(node *yaml.Node) {
		for i := 0; i+1 < len(node.Content) && node.Kind == yaml.MappingNode && (found.indent == 0 || !list); i += 2 {
			key, child := node.Content[i], node.Content[i+1]
			if child.Style&yaml.FlowStyle != 0 || child.Line == key.Line {
				continue
			}
			switch child.Kind {
			case yaml.MappingNode:
				if found.indent == 0 {
					found.indent = child.Column - key.Column
				}
			case yaml.SequenceNode:
				if !list {
					list, found.wide = true, child.Column > key.Column
				}
			}
			look(child)
		}
	}
	look(root)
	if found.indent == 0 {
		found.indent = 2
	}
	return found
}

// document returns a whole document.
func (l layout) document(tree any) ([]byte, error) {
	text, err := l.encode(nodeOf(tree))
	if err != nil {
		return nil, invalid("%s", err)
	}
	return []byte(text), nil
}

// member returns "key: value" with a comment after the key or scalar, each line
// indented.
func (l layout) member(key string, v any, comment string, indent int) (string, error) {
	name, node := keyNode(key), nodeOf(v)
	if node.Kind == yaml.ScalarNode || len(node.Content) == 0 {
		node.LineComment = comment
	} else {
		name.LineComment = comment
	}
	text, err := l.encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{name, node}})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			out.WriteString(strings.Repeat(" ", indent))
		}
		out.WriteString(line)
	}
	return out.String(), nil
}

func (l layout) encode(node *yaml.Node) (text string, err error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(l.indent)
	if !l.wide {
		encoder.CompactSeqIndent()
	}
	if err := encoder.Encode(node); err != nil {
		return "", err
	}
	err = encoder.Close()
	return out.String(), err
}

// nodeOf returns the node of a JSON-native tree, keys sorted.
func nodeOf(v any) *yaml.Node {
	switch v := v.(type) {
	case string:
		return textNode(v)
	case []any:
		node := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			node.Content = append(node.Content, nodeOf(item))
		}
		return node
	case map[string]any:
		node := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range tree.SortedKeys(v) {
			node.Content = append(node.Content, keyNode(key), nodeOf(v[key]))
		}
		return node
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case int64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}
	case float64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: floatText(v)}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// floatText has a point always: without one, 1e-7 is a string in YAML 1.1.
func floatText(float float64) string {
	text := strconv.FormatFloat(float, 'g', -1, 64)
	mantissa, exponent, scientific := strings.Cut(text, "e")
	if scientific && !strings.Contains(mantissa, ".") {
		return mantissa + ".0e" + exponent
	}
	return text
}

var (
	// plainText is text that every YAML reader takes for text, if it is not a plainWord.
	plainText = regexp.MustCompile(`^[A-Za-z/](?:[A-Za-z0-9_./@+:?&=%~-]*[A-Za-z0-9_./@+?&=%~-])?(?: [A-Za-z0-9_./@+(](?:[A-Za-z0-9_./@+:?&=%~(),-]*[A-Za-z0-9_./@+?&=%~(),-])?)*$`)
	// multiLine is text that a block scalar holds without an indentation indicator.
	multiLine = regexp.MustCompile(`^[!-~](?:[ -~]*[!-~])?(?:\n(?:[!-~](?:[ -~]*[!-~])?)?)+$`)
	// plainWord is what YAML 1.1, or a reader that guesses, takes for a bool, null or number.
	plainWord = regexp.MustCompile(`^(?i:y|yes|n|no|t|true|f|false|on|off|null|nan|inf|infinity)$`)
)

func textNode(text string) *yaml.Node {
	node := keyNode(text)
	if multiLine.MatchString(text) {
		node.Style = yaml.LiteralStyle
	}
	return node
}

// keyNode is textNode without block style, which a key cannot have.
func keyNode(text string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Style: yaml.DoubleQuotedStyle}
	if plainText.MatchString(text) && !plainWord.MatchString(text) {
		node.Style = 0
	}
	return node
}
