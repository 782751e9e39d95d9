package schema

import (
	"maps"
	"slices"
)

// Bounds of what prune keeps. Each is above every limit of the two schemas, so
// that what is cut is refused all the same.
const (
	maxPrunedText    = 16 << 10
	maxPrunedUnknown = 100
	maxPrunedItems   = 100
)

// prune returns the part of v that the schema node says something about: open
// objects and lists without items become empty, numbers 0, and unknown members
// of closed objects nil.
func (s *shape) prune(node map[string]any, v any) any {
	node = s.resolve(node)
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		return v[:min(len(v), maxPrunedText)]
	case []any:
		items, _ := node["items"].(map[string]any)
		pruned := []any{}
		for _, item := range v[:min(len(v), maxPrunedItems)] {
			if items == nil {
				break
			}
			pruned = append(pruned, s.prune(items, item))
		}
		return pruned
	case map[string]any:
		return s.pruneObject(node, v)
	default:
		return 0
	}
}

func (s *shape) pruneObject(node, object map[string]any) map[string]any {
	pruned := map[string]any{}
	properties, _ := node["properties"].(map[string]any)
	for name, property := range properties {
		sub, _ := property.(map[string]any)
		if member, has := object[name]; has {
			pruned[name] = s.prune(sub, member)
		}
	}
	if node["additionalProperties"] != false {
		return pruned
	}
	unknown := slices.DeleteFunc(slices.Collect(maps.Keys(object)), func(name string) bool {
		return properties[name] != nil
	})
	slices.Sort(unknown)
	for _, name := range unknown[:min(len(unknown), maxPrunedUnknown)] {
		pruned[name] = nil
	}
	return pruned
}

// resolve follows a $ref into definitions, the only form that the two schemas use.
func (s *shape) resolve(node map[string]any) map[string]any {
	const prefix = "#/definitions/"
	target, ok := node["$ref"].(string)
	if !ok {
		return node
	}
	definitions, _ := s.document["definitions"].(map[string]any)
	resolved, _ := definitions[target[len(prefix):]].(map[string]any)
	return resolved
}

// find returns the schema node at the tokens of a place in a document.
func (s *shape) find(tokens []string) map[string]any {
	node := s.document
	for _, token := range tokens {
		properties, _ := node["properties"].(map[string]any)
		sub, ok := properties[token].(map[string]any)
		if !ok {
			sub, _ = node["items"].(map[string]any)
		}
		node = s.resolve(sub)
	}
	return node
}
