package expression

import (
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

var textFunctions = []function{
	define("upper(text) string", "The text in upper case.", 1, 1, mapped(strings.ToUpper)),
	define("lower(text) string", "The text in lower case.", 1, 1, mapped(strings.ToLower)),
	define("trim(text[, characters]) string", "The text without the characters, white space by default, at both ends.", 1, 2, trim),
	define("trimPrefix(text[, prefix]) string", "The text without the prefix, a space by default.", 1, 2, affix(strings.TrimPrefix)),
	define("trimSuffix(text[, suffix]) string", "The text without the suffix, a space by default.", 1, 2, affix(strings.TrimSuffix)),
	define("hasPrefix(text, prefix) bool", "Whether the text begins with the prefix.", 2, 2, textOperator(startsWith)),
	define("hasSuffix(text, suffix) bool", "Whether the text ends with the suffix.", 2, 2, textOperator(endsWith)),
	define("indexOf(text, part) number", "Where the part is first, in bytes from 0; -1 if it is not there.", 2, 2, located(strings.Index)),
	define("lastIndexOf(text, part) number", "Where the part is last, in bytes from 0; -1 if it is not there.", 2, 2, located(strings.LastIndex)),
	define("split(text, separator[, limit]) list", "The pieces between the separators, at most limit pieces.", 2, 3, splitter(strings.SplitN)),
	define("splitAfter(text, separator[, limit]) list", "The pieces, each with its separator, at most limit pieces.", 2, 3, splitter(strings.SplitAfterN)),
	define("replace(text, old, new[, limit]) string", "The text with new in place of old, at most limit times.", 3, 4, replace),
	define("repeat(text, times) string", "The text as often as times says.", 2, 2, repeat),
	define("join(list[, separator]) string", "The strings of a list, the separator between them.", 1, 2, join),
}

// mapped is a function of one text; a character may grow to three times its bytes.
func mapped(f func(string) string) implementation {
	return func(c call, args []any) (any, error) {
		text, err := c.text(args, 0)
		if err == nil {
			err = c.charge(times(3, len(text)))
		}
		if err != nil {
			return nil, err
		}
		return f(text), nil
	}
}

func trim(c call, args []any) (any, error) {
	text, err := c.text(args, 0)
	if err != nil || len(args) == 1 {
		return strings.TrimSpace(text), err
	}
	characters, err := c.text(args, 1)
	if err == nil {
		// Every character may be looked for among all the characters.
		err = c.charge(times(len(text), len(characters)))
	}
	if err != nil {
		return nil, err
	}
	return strings.Trim(text, characters), nil
}

func affix(f func(text, affix string) string) implementation {
	return func(c call, args []any) (any, error) {
		if len(args) == 1 {
			args = []any{args[0], " "}
		}
		text, part, err := c.texts(args)
		if err != nil {
			return nil, err
		}
		return f(text, part), nil
	}
}

func located(f func(text, part string) int) implementation {
	return func(c call, args []any) (any, error) {
		text, part, err := c.texts(args)
		if err != nil {
			return nil, err
		}
		return int64(f(text, part)), nil
	}
}

// limit returns the optional limit argument; -1 is none.
func (c call) limit(args []any, index int) (int, error) {
	if len(args) <= index {
		return -1, nil
	}
	return c.integer(args, index)
}

func splitter(f func(text, separator string, limit int) []string) implementation {
	return func(c call, args []any) (any, error) {
		text, separator, err := c.texts(args)
		if err != nil {
			return nil, err
		}
		limit, err := c.limit(args, 2)
		if err != nil {
			return nil, err
		}
		pieces := strings.Count(text, separator) + 1
		if limit >= 0 {
			pieces = min(pieces, limit)
		}
		// A piece is held twice: as a string of the split and as an item.
		if err := c.charge(times(3*slot, pieces)); err != nil {
			return nil, err
		}
		list := make([]any, 0, pieces)
		for _, piece := range f(text, separator, limit) {
			list = append(list, piece)
		}
		return list, nil
	}
}

func replace(c call, args []any) (any, error) {
	text, old, err := c.texts(args)
	if err != nil {
		return nil, err
	}
	fresh, err := c.text(args, 2)
	if err != nil {
		return nil, err
	}
	limit, err := c.limit(args, 3)
	if err != nil {
		return nil, err
	}
	count := strings.Count(text, old)
	if limit >= 0 {
		count = min(count, limit)
	}
	if err := c.charge(times(count, len(fresh))); err != nil {
		return nil, err
	}
	return strings.Replace(text, old, fresh, limit), nil
}

func repeat(c call, args []any) (any, error) {
	text, err := c.text(args, 0)
	if err != nil {
		return nil, err
	}
	count, err := c.integer(args, 1)
	if err != nil {
		return nil, err
	}
	if count < 0 {
		return nil, c.fail("cannot repeat a negative number of times")
	}
	if err := c.charge(times(len(text), count)); err != nil {
		return nil, err
	}
	return strings.Repeat(text, count), nil
}

func join(c call, args []any) (any, error) {
	list, err := c.list(args, 0)
	if err != nil {
		return nil, err
	}
	separator := ""
	if len(args) == 2 {
		if separator, err = c.text(args, 1); err != nil {
			return nil, err
		}
	}
	size := times(len(list), len(separator))
	for i, item := range list {
		text, ok := item.(string)
		if !ok {
			return nil, c.fail("takes a list of strings, got %s as item %d (%s)", wording.Kind(item), i, render(c.site.operands[0]))
		}
		if size += len(text); size > maxBytes {
			break
		}
	}
	if err := c.charge(size); err != nil {
		return nil, err
	}
	var joined strings.Builder
	for i, item := range list {
		if i > 0 {
			joined.WriteString(separator)
		}
		joined.WriteString(item.(string))
	}
	return joined.String(), nil
}
