package document

import "go.yaml.in/yaml/v3"

// layout is how a YAML document is indented.
type layout struct {
	indent int
	// wide is for lists that are indented more than the key they belong to.
	wide bool
}

// kubectl is the layout of what has none yet.
var kubectl = layout{indent: 2}

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
		found.indent = kubectl.indent
	}
	return found
}
