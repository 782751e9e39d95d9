package server

import (
	"net/http"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// tokenHint says how a template sends a token.
const tokenHint = `send the header Authorization: Bearer <token of a ServiceAccount of the project>, in Kargo the value "Bearer ${{ secret('<name>').token }}"`

// isToken says whether a text has the characters of a token: RFC 6750, section 2.1.
func isToken(text string) bool {
	text = strings.TrimRight(text, "=")
	return text != "" && strings.IndexFunc(text, func(char rune) bool {
		return (char < 'a' || char > 'z') && (char < 'A' || char > 'Z') && (char < '0' || char > '9') && !strings.ContainsRune("._~+/-", char)
	}) < 0
}

// nobody is what templates make of a secret that they do not have.
var nobody = map[string]bool{"null": true, "nil": true, "undefined": true, "none": true}

// bearer returns the caller's token. No error quotes the header.
func bearer(header http.Header) (string, error) {
	refuse := func(message string) (string, error) {
		return "", fault.New(fault.Unauthenticated, "request", message+": "+tokenHint, nil)
	}
	values := header.Values("Authorization")
	if len(values) == 0 || len(values) == 1 && strings.TrimSpace(values[0]) == "" {
		return refuse("it has no Authorization header")
	}
	if len(values) > 1 {
		return refuse("it has more than one Authorization header")
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	token = strings.TrimSpace(token)
	switch {
	case !strings.EqualFold(scheme, "Bearer"):
		return refuse("its Authorization header is not a bearer token")
	case token == "":
		return refuse("its bearer token is empty, as when the secret has no such key")
	case nobody[strings.ToLower(token)], strings.HasPrefix(token, "<") && strings.HasSuffix(token, ">"):
		return refuse("its bearer token is the text of a missing value, as when the secret does not exist")
	case !isToken(token):
		return refuse("its bearer token has characters that no token has, such as quotes or spaces")
	}
	return token, nil
}
