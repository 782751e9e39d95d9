package schema

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kargo-steps/publish-metadata/internal/nearest"
)

// maxShownName is how many bytes of a name a message shows.
const maxShownName = 80

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer returns the JSON Pointer (RFC 6901) of the tokens; "" for none.
func Pointer(tokens ...string) string {
	var pointer strings.Builder
	for _, token := range tokens {
		pointer.WriteByte('/')
		pointer.WriteString(pointerEscaper.Replace(token))
	}
	return pointer.String()
}

// shown returns a name as messages show it: as it is when it is a plain word,
// quoted and cut otherwise.
func shown(name string) string {
	if len(name) > maxShownName {
		cut := maxShownName
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

// shownList returns the names with ", " between them.
func shownList(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = shown(name)
	}
	return strings.Join(list, ", ")
}

// didYouMean returns "; did you mean x?" for the nearest candidate, or "".
func didYouMean(name string, candidates []string) string {
	if best := nearest.Name(name, candidates); best != "" {
		return "; did you mean " + shown(best) + "?"
	}
	return ""
}

// unknownField is the message for a member that a closed object does not have.
func unknownField(name string, known []string) string {
	return "unknown field " + shown(name) + didYouMean(name, known)
}
