package schema

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxURL is the longest URL that CheckURL accepts, in bytes.
const MaxURL = 2048

// CheckURL returns "" for a URL that may be published as a link, else the
// reason why not, which never quotes the URL. It has to be absolute, http or
// https, at most MaxURL bytes, with a host, and without userinfo, backslash,
// control, format or white-space characters, invalid percent escapes, or a port
// outside 1 to 65535. The rule is code because "format": "uri" passes
// javascript: and userinfo.
func CheckURL(s string) string {
	if reason := checkURLText(s); reason != "" {
		return reason
	}
	scheme, rest, found := strings.Cut(s, ":")
	if !found || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return "has to begin with https:// or http://"
	}
	authority, found := strings.CutPrefix(rest, "//")
	if !found {
		return "has no host: // is missing after the scheme"
	}
	if end := strings.IndexAny(authority, "/?#"); end >= 0 {
		authority = authority[:end]
	}
	if strings.Contains(authority, "@") {
		return "must not hold a user name or password"
	}
	if reason := checkAuthority(authority); reason != "" {
		return reason
	}
	// The last word is the parser's, so that no reader of the URL fails on it.
	if parsed, err := url.Parse(s); err != nil || parsed.Host == "" || parsed.User != nil {
		return "is not a valid URL"
	}
	return ""
}

// checkURLText refuses what no part of a URL may hold.
func checkURLText(s string) string {
	switch {
	case s == "":
		return "is empty"
	case len(s) > MaxURL:
		return "is longer than " + strconv.Itoa(MaxURL) + " bytes"
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	}
	for i, r := range s {
		switch {
		case unicode.IsSpace(r):
			return "must not hold white space"
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return "must not hold control or invisible characters"
		case r == '\\':
			return "must not hold a backslash"
		case r == utf8.RuneError:
			return "must not hold replacement characters"
		case r == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])):
			return "has a % that is not followed by two hex digits"
		}
	}
	return ""
}

// checkAuthority checks "host" or "host:port".
func checkAuthority(authority string) string {
	var host, port string
	var hasPort bool
	if strings.HasPrefix(authority, "[") {
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			return "has an IPv6 address without its closing bracket"
		}
		host = authority[:end+1]
		if rest := authority[end+1:]; rest != "" {
			if rest[0] != ':' {
				return "has text after its IPv6 address"
			}
			port, hasPort = rest[1:], true
		}
	} else {
		host, port, hasPort = strings.Cut(authority, ":")
	}
	if reason := checkHost(host); reason != "" {
		return reason
	}
	if hasPort && !validPort(port) {
		return "has a port that is not between 1 and 65535"
	}
	return ""
}

func validPort(port string) bool {
	if port == "" || len(port) > 5 || strings.Trim(port, "0123456789") != "" {
		return false
	}
	number, err := strconv.Atoi(port)
	return err == nil && number >= 1 && number <= 65535
}

// checkHost checks a host name, also an internationalised one, or an IP address.
func checkHost(host string) string {
	if host == "" {
		return "has no host"
	}
	if inner, bracketed := strings.CutPrefix(host, "["); bracketed {
		addr, err := netip.ParseAddr(strings.TrimSuffix(inner, "]"))
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "has an IPv6 address that is not valid, or one with a zone"
		}
		return ""
	}
	if len(host) > 253 {
		return "has a host longer than 253 bytes"
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, label := range labels {
		if !validHostLabel(label) {
			return "has a host that is not a valid name"
		}
	}
	// Browsers read a host that ends in a number as an IPv4 address.
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" {
		if addr, err := netip.ParseAddr(host); err != nil || !addr.Is4() {
			return "has a host that is a number but not an IPv4 address"
		}
	}
	return ""
}

func validHostLabel(label string) bool {
	if label == "" || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
		return false
	}
	for _, r := range label {
		ascii := r == '-' || r == '_' || isASCIIAlnum(r)
		international := r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
		if !ascii && !international {
			return false
		}
	}
	return true
}

func isHex(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

func isASCIIAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
