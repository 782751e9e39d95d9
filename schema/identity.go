package schema

import (
	"strconv"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// identity appends a text to buffer that two trees share only if they are equal.
func identity(buffer []byte, v any) []byte {
	switch v := tree.Canonical(v).(type) {
	case nil:
		return append(buffer, 'n')
	case bool:
		return strconv.AppendBool(buffer, v)
	case string:
		return strconv.AppendQuote(buffer, v)
	case int64:
		return strconv.AppendInt(buffer, v, 10)
	case float64:
		return strconv.AppendFloat(buffer, v, 'g', -1, 64)
	case []any:
		buffer = append(buffer, '[')
		for _, item := range v {
			buffer = append(identity(buffer, item), ',')
		}
		return append(buffer, ']')
	case map[string]any:
		buffer = append(buffer, '{')
		for _, key := range tree.SortedKeys(v) {
			buffer = append(strconv.AppendQuote(buffer, key), ':')
			buffer = append(identity(buffer, v[key]), ',')
		}
		return append(buffer, '}')
	}
	return buffer
}

// countNodes returns how many values a bounded tree is made of.
func countNodes(v any) int {
	nodes := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			nodes += countNodes(item)
		}
	case map[string]any:
		for _, member := range v {
			nodes += countNodes(member)
		}
	}
	return nodes
}
