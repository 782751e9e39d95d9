package examples_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
)

// evaluate returns the value of a template as Kargo does: each ${{ }} ends at the
// next }}, texts go in as they are and all else as JSON, and the whole is then a
// text in quotes, a number, a boolean, JSON, or a text, whatever fits first. A
// template without ${{ is itself.
func evaluate(template string, env map[string]any) (any, error) {
	if !strings.Contains(template, "${{") {
		return template, nil
	}
	var text strings.Builder
	for rest := template; ; {
		before, after, found := strings.Cut(rest, "${{")
		text.WriteString(before)
		if !found {
			break
		}
		source, following, closed := strings.Cut(after, "}}")
		if !closed {
			return nil, fmt.Errorf("a ${{ is not closed: %s", after)
		}
		value, err := expr.Eval(source, env)
		if err != nil {
			return nil, err
		}
		if err := interpolate(&text, value); err != nil {
			return nil, err
		}
		rest = following
	}
	return typed(text.String()), nil
}

func interpolate(text *strings.Builder, value any) error {
	if s, isText := value.(string); isText {
		text.WriteString(s)
		return nil
	}
	encoded, err := json.Marshal(value)
	text.Write(encoded)
	return err
}

func typed(text string) any {
	trimmed := strings.TrimSuffix(text, "\n")
	newline := text[len(trimmed):]
	if len(trimmed) > 1 && strings.HasPrefix(trimmed, `"`) && strings.HasSuffix(trimmed, `"`) {
		return trimmed[1:len(trimmed)-1] + newline
	}
	if number, err := strconv.ParseFloat(trimmed, 64); err == nil {
		return number
	}
	if truth, err := strconv.ParseBool(trimmed); err == nil {
		return truth
	}
	var tree any
	if json.Unmarshal([]byte(trimmed), &tree) == nil {
		return tree
	}
	return trimmed + newline
}

// evaluateAll evaluates every text in a tree, but no names.
func evaluateAll(tree any, env map[string]any) (any, error) {
	var err error
	switch node := tree.(type) {
	case string:
		return evaluate(node, env)
	case map[string]any:
		evaluated := make(map[string]any, len(node))
		for name, member := range node {
			if evaluated[name], err = evaluateAll(member, env); err != nil {
				return nil, err
			}
		}
		return evaluated, nil
	case []any:
		evaluated := make([]any, len(node))
		for i, element := range node {
			if evaluated[i], err = evaluateAll(element, env); err != nil {
				return nil, err
			}
		}
		return evaluated, nil
	}
	return tree, nil
}

// quote is Kargo's function: a text gets quotes and escapes, all else becomes JSON
// in quotes.
func quote(value any) (string, error) {
	if text, isText := value.(string); isText {
		return strconv.Quote(text), nil
	}
	encoded, err := json.Marshal(value)
	return `"` + string(encoded) + `"`, err
}
