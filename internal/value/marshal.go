package value

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// maxMarshalDepth keeps a cyclic value from exhausting the stack.
const maxMarshalDepth = 1000

// Marshal returns the compact JSON of a JSON-native tree: sorted keys, no HTML
// escaping, no trailing newline, numbers and strings written as encoding/json
// writes them. A nil list is [], a nil object {}. An error, which names the Go
// type alone, is for a value that Native would not return.
func Marshal(v any) ([]byte, error) {
	return appendValue(nil, v, 0)
}

func appendValue(out []byte, v any, depth int) ([]byte, error) {
	if depth > maxMarshalDepth {
		return nil, fmt.Errorf("value nested above %d levels", maxMarshalDepth)
	}
	switch v := v.(type) {
	case nil:
		return append(out, "null"...), nil
	case bool:
		return strconv.AppendBool(out, v), nil
	case string:
		return appendString(out, v), nil
	case int64:
		return strconv.AppendInt(out, v, 10), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errInfinite
		}
		return appendFloat(out, v), nil
	case []any:
		return appendList(out, v, depth)
	case map[string]any:
		return appendObject(out, v, depth)
	}
	return nil, fmt.Errorf("a Go %T is not a JSON-native value", v)
}

func appendList(out []byte, list []any, depth int) ([]byte, error) {
	out = append(out, '[')
	var err error
	for i, item := range list {
		if i > 0 {
			out = append(out, ',')
		}
		if out, err = appendValue(out, item, depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendObject(out []byte, object map[string]any, depth int) ([]byte, error) {
	out = append(out, '{')
	var err error
	for i, key := range tree.SortedKeys(object) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendString(out, key), ':')
		if out, err = appendValue(out, object[key], depth+1); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

func appendString(out []byte, text string) []byte {
	out = append(out, '"')
	for i := 0; i < len(text); {
		char, width := utf8.DecodeRuneInString(text[i:])
		if escaped := escapeOf(char, width); escaped != "" {
			out = append(out, escaped...)
		} else {
			out = append(out, text[i:i+width]...)
		}
		i += width
	}
	return append(out, '"')
}

// escapeOf returns how encoding/json escapes a character, "" if it does not.
func escapeOf(char rune, width int) string {
	switch char {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\u2028':
		return `\u2028`
	case '\u2029':
		return `\u2029`
	case utf8.RuneError:
		if width == 1 {
			return `\ufffd`
		}
	}
	if char < ' ' {
		const digits = "0123456789abcdef"
		return `\u00` + string([]byte{digits[char>>4], digits[char&15]})
	}
	return ""
}

// appendFloat writes an exponent only where ECMAScript does, as encoding/json.
func appendFloat(out []byte, float float64) []byte {
	abs := math.Abs(float)
	if abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(out, float, 'f', -1, 64)
	}
	out = strconv.AppendFloat(out, float, 'e', -1, 64)
	if n := len(out); n >= 4 && out[n-4] == 'e' && out[n-3] == '-' && out[n-2] == '0' {
		out[n-2] = out[n-1]
		out = out[:n-1]
	}
	return out
}

// Size returns len(Marshal(v)) without building it; a value that Marshal refuses counts 0.
func Size(v any) int {
	var scratch [32]byte
	switch v := v.(type) {
	case nil:
		return len("null")
	case bool:
		return len(strconv.AppendBool(scratch[:0], v))
	case string:
		return sizeOfString(v)
	case int64:
		return len(strconv.AppendInt(scratch[:0], v, 10))
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0
		}
		return len(appendFloat(scratch[:0], v))
	case []any:
		size := len("[]") + max(len(v)-1, 0)
		for _, item := range v {
			size += Size(item)
		}
		return size
	case map[string]any:
		size := len("{}") + max(len(v)-1, 0)
		for key, member := range v {
			size += sizeOfString(key) + len(":") + Size(member)
		}
		return size
	}
	return 0
}

func sizeOfString(text string) int {
	size := len(`""`)
	for i := 0; i < len(text); {
		char, width := utf8.DecodeRuneInString(text[i:])
		if escaped := escapeOf(char, width); escaped != "" {
			size += len(escaped)
		} else {
			size += width
		}
		i += width
	}
	return size
}
