package schema

import (
	"math"
	"slices"
	"strconv"
)

// equal says whether two JSON-native trees are the same JSON value: 1 and 1.0 are.
func equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, member := range a {
			other, found := b[key]
			if !found || !equal(member, other) {
				return false
			}
		}
		return true
	default:
		switch b.(type) {
		case []any, map[string]any:
			return false
		}
		return exact(a) == exact(b)
	}
}

// exact returns a whole float64 as the int64 of the same value, else v.
func exact(v any) any {
	number, ok := v.(float64)
	if ok && number == math.Trunc(number) && number >= -(1<<63) && number < 1<<63 {
		return int64(number)
	}
	return v
}

// identity appends a text to buffer that two trees share only if they are equal.
func identity(buffer []byte, v any) []byte {
	switch v := exact(v).(type) {
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
		for _, key := range sortedKeys(v) {
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
