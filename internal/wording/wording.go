// Package wording holds the parts of messages that several packages share.
//
// In: names and JSON-native values. Out: text for a message, bounded and on one
// line, which never shows a value.
package wording

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxShown is how many bytes of a name a message shows.
const maxShown = 80

// Name returns a name as messages show it: as it is when it is a plain word,
// quoted and cut otherwise.
func Name(name string) string {
	if len(name) > maxShown {
		cut := maxShown
		for cut > 0 && !utf8.RuneStart(name[cut]) {
			cut--
		}
		return strconv.Quote(name[:cut]) + "..."
	}
	plain := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("_-$./:", r)
	}
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 {
		return name
	}
	return strconv.Quote(name)
}

// List returns names with ", " between them, at most so many and how many more
// there are; "nothing" for none.
func List(names []string, most int) string {
	if len(names) == 0 {
		return "nothing"
	}
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	shown := make([]string, len(names))
	for i, name := range names {
		shown[i] = Name(name)
	}
	return strings.Join(shown, ", ") + more
}

// maxFields is how many fields a message shows.
const maxFields = 20

// Fields returns texts about fields with "; " between them, the first so many and
// how many more there are.
func Fields(texts []string) string {
	more := ""
	if len(texts) > maxFields {
		more = fmt.Sprintf("; and %d more", len(texts)-maxFields)
		texts = texts[:maxFields]
	}
	return strings.Join(texts, "; ") + more
}

// Kind is what messages call a JSON-native value.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case int64, float64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "an unknown value"
}
