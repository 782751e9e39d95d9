package document

import (
	"go.yaml.in/yaml/v3"
)

// yamlReader turns nodes into a tree. It recurses at most as deep as report.nest
// lets it.
type yamlReader struct{ report }

func treeOf(root *yaml.Node) (any, error) {
	r := &yamlReader{}
	tree, err := r.value(root)
	if err != nil {
		return nil, err
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return tree, nil
}

func at(node *yaml.Node) func() position {
	return func() position { return position{node.Line, node.Column} }
}

func (r *yamlReader) value(node *yaml.Node) (any, error) {
	if err := r.count(at(node)); err != nil {
		return nil, err
	}
	switch {
	case node.Kind == yaml.AliasNode:
		r.add(at(node), "aliases are not supported; repeat the value")
		return nil, nil
	case node.Anchor != "":
		r.add(at(node), "anchors are not supported; leave it out")
	}
	if node.Kind == yaml.ScalarNode {
		return r.scalar(node), nil
	}
	if err := r.nest(at(node)); err != nil {
		return nil, err
	}
	if node.Kind == yaml.SequenceNode {
		return r.list(node)
	}
	return r.object(node)
}

func (r *yamlReader) list(node *yaml.Node) (any, error) {
	r.checkTag(node, "!!seq")
	list := make([]any, 0, len(node.Content))
	for i, item := range node.Content {
		r.enter(token{index: i})
		converted, err := r.value(item)
		r.leave()
		if err != nil {
			return nil, err
		}
		list = append(list, converted)
	}
	return list, nil
}

func (r *yamlReader) object(node *yaml.Node) (any, error) {
	r.checkTag(node, "!!map")
	object, keys := map[string]any{}, map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		if !r.checkKey(key) {
			continue
		}
		if first, twice := keys[key.Value]; twice {
			r.twice(key.Value, at(key), at(first))
		} else {
			keys[key.Value] = key
		}
		r.enter(keyToken(key.Value))
		converted, err := r.value(node.Content[i+1])
		r.leave()
		if err != nil {
			return nil, err
		}
		object[key.Value] = converted
	}
	return object, nil
}

// checkKey says whether key.Value is a key; if not, the problem is at the object.
func (r *yamlReader) checkKey(key *yaml.Node) bool {
	plain := key.Style == 0
	switch {
	case key.Kind == yaml.AliasNode:
		r.add(at(key), "a key that is an alias; aliases are not supported")
	case key.Kind != yaml.ScalarNode:
		r.add(at(key), "a key that is a list or object; keys have to be text")
	case key.Anchor != "":
		r.add(at(key), "an anchor at a key; anchors are not supported")
	case key.Style&yaml.TaggedStyle != 0 && key.Tag != "!!str":
		r.add(at(key), "a tag at a key; keys are text")
	case plain && key.Value == "<<":
		r.add(at(key), "merge keys are not supported; repeat the members, or quote the key")
	case plain && key.Value == "":
		r.add(at(key), "a key without text; quote it")
	default:
		return true
	}
	return false
}

func (r *yamlReader) checkTag(node *yaml.Node, want string) {
	if node.Style&yaml.TaggedStyle != 0 && node.Tag != want {
		r.add(at(node), "a tag that does not fit or is not supported; leave it out")
	}
}

func (r *yamlReader) scalar(node *yaml.Node) any {
	if node.Style&yaml.TaggedStyle != 0 {
		return r.tagged(node)
	}
	if node.Style != 0 {
		return node.Value
	}
	resolved, err := resolvePlain(node.Value)
	if err != nil {
		r.add(at(node), "%s", err)
	}
	return resolved
}

// tagged resolves as if without quotes, and then the type has to be the tag's.
func (r *yamlReader) tagged(node *yaml.Node) any {
	if node.Tag == "!!str" {
		return node.Value
	}
	resolved, err := resolvePlain(node.Value)
	fits := false
	switch resolved.(type) {
	case nil:
		fits = node.Tag == "!!null"
	case bool:
		fits = node.Tag == "!!bool"
	case int64:
		fits = node.Tag == "!!int" || node.Tag == "!!float"
	case float64:
		fits = node.Tag == "!!float"
	}
	switch {
	case err != nil:
		r.add(at(node), "%s", err)
	case !fits:
		r.add(at(node), "a tag that does not fit or is not supported; leave it out")
	}
	return resolved
}
