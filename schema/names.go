package schema

import (
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

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

// unknownField is the message for a member that a closed object does not have.
func unknownField(name string, known []string) string {
	return "unknown field " + wording.Name(name) + wording.Hint(name, known)
}
