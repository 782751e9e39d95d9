package document

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var (
	// plainText is text that every YAML reader takes for text, if it is not a plainWord.
	plainText = regexp.MustCompile(`^[A-Za-z/](?:[A-Za-z0-9_./@+:?&=%~-]*[A-Za-z0-9_./@+?&=%~-])?(?: [A-Za-z0-9_./@+(](?:[A-Za-z0-9_./@+:?&=%~(),-]*[A-Za-z0-9_./@+?&=%~(),-])?)*$`)
	// multiLine is text that a block scalar holds without an indentation indicator
	// and without owning the blank lines after it, which would hinder further edits.
	multiLine = regexp.MustCompile(`^[!-~](?:[ -~]*[!-~])?(?:\n+[!-~](?:[ -~]*[!-~])?)*\n?$`)
	// plainWord is what YAML 1.1, or a reader that guesses, takes for a bool, null or number.
	plainWord = regexp.MustCompile(`^(?i:y|yes|n|no|t|true|f|false|on|off|null|nan|inf|infinity)$`)
)

// scalarText returns a scalar, or an empty list or object, on one line.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return keyText(v)
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return floatText(v)
	case []any:
		return "[]"
	case map[string]any:
		return "{}"
	}
	return "null"
}

// floatText has a point always: without one, 1e-7 is a string in YAML 1.1.
func floatText(float float64) string {
	text := strconv.FormatFloat(float, 'g', -1, 64)
	mantissa, exponent, scientific := strings.Cut(text, "e")
	if scientific && !strings.Contains(mantissa, ".") {
		return mantissa + ".0e" + exponent
	}
	return text
}

// keyText returns text on one line: as it is, or in double quotes.
func keyText(text string) string {
	if plainText.MatchString(text) && !plainWord.MatchString(text) {
		return text
	}
	return quoted(text)
}

// literal returns the header and the lines of a block scalar.
func literal(text string, indent int) (header, lines string) {
	header = "|"
	if !strings.HasSuffix(text, "\n") {
		header = "|-"
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if line != "\n" {
			out.WriteString(strings.Repeat(" ", indent))
		}
		out.WriteString(line)
	}
	if header == "|-" {
		out.WriteString("\n")
	}
	return header, out.String()
}

// escapes are those that YAML 1.1, YAML 1.2 and JSON share.
var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}

// quoted returns text in double quotes, with what does not print escaped.
func quoted(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, char := range text {
		escape, special := escapes[char]
		switch {
		case special:
			out.WriteString(escape)
		case unicode.IsPrint(char):
			out.WriteRune(char)
		case char > 0xffff:
			fmt.Fprintf(&out, `\U%08X`, char)
		default:
			fmt.Fprintf(&out, `\u%04X`, char)
		}
	}
	out.WriteByte('"')
	return out.String()
}
