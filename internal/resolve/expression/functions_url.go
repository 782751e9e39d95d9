package expression

import (
	"net/url"
	"strconv"
	"strings"
)

var urlFunctions = []function{
	define("joinURL(base, segment, …) string", "The URL of base, which may have a path but no query or fragment, with the segments added to its path: one slash at each join, each segment percent-encoded (`a/b` is `a%2Fb`). A segment is a string that is not empty, or a whole number.", 2, -1, joinURL),
	define("escapeQuery(text) string", "The text, or whole number, encoded as a name or value of a URL's query: `a b&c` is `a+b%26c`.", 1, 1, escapeQuery),
}

func joinURL(c call, args []any) (any, error) {
	text, err := c.text(args, 0)
	if err != nil {
		return nil, err
	}
	base, ok := baseURL(text)
	if !ok {
		return nil, c.fail("the base has to be an absolute http or https URL with a host, without credentials, query or fragment (%s)", render(c.site.operands[0]))
	}
	var joined strings.Builder
	joined.WriteString(base)
	for i := 1; i < len(args); i++ {
		segment, err := c.word(args, i)
		if err != nil {
			return nil, err
		}
		if segment == "" || segment == "." || segment == ".." {
			return nil, c.fail("segment %d must not be empty, . or .. (%s)", i, render(c.site.operands[i]))
		}
		joined.WriteString("/" + url.PathEscape(segment))
	}
	return joined.String(), nil
}

// baseURL returns the URL without a slash at its end. A query would end up in
// the middle of the result, so it is refused: add it after joining.
func baseURL(text string) (string, bool) {
	base, err := url.Parse(text)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "" || base.User != nil {
		return "", false
	}
	if base.RawQuery != "" || base.ForceQuery || base.Fragment != "" || strings.HasSuffix(text, "#") {
		return "", false
	}
	return base.Scheme + "://" + base.Host + strings.TrimRight(base.EscapedPath(), "/"), true
}

func escapeQuery(c call, args []any) (any, error) {
	text, err := c.word(args, 0)
	if err != nil {
		return nil, err
	}
	return url.QueryEscape(text), nil
}

// word returns a string, or a whole number as a string, and charges what it
// becomes when it is percent-encoded.
func (c call) word(args []any, index int) (string, error) {
	switch v := args[index].(type) {
	case int64:
		return strconv.FormatInt(v, 10), nil
	case string:
		return v, c.charge(times(6, len(v)))
	}
	return "", c.wrong(index, "a string or a whole number", args[index])
}
