package document

import (
	"bytes"
	"regexp"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonNumber is the grammar of RFC 8259, section 6.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func isNumber(literal []byte) bool { return jsonNumber.Match(literal) }

var simpleEscapes = map[byte]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// text reads a string, from quote to quote.
func (p *jsonParser) text() (string, error) {
	start := p.offset
	p.offset++
	var decoded []byte
	for plain := p.offset; ; {
		length := bytes.IndexFunc(p.data[p.offset:], func(char rune) bool { return char == '"' || char == '\\' || char < ' ' })
		if length < 0 {
			p.offset = start
			return "", p.fail("a string without an end")
		}
		p.offset += length
		switch p.data[p.offset] {
		case '"':
			text := append(decoded, p.data[plain:p.offset]...)
			p.offset++
			return string(text), nil
		case '\\':
			char, err := p.escape(&decoded, plain)
			if err != nil {
				return "", err
			}
			decoded = utf8.AppendRune(decoded, char)
			plain = p.offset
		default:
			return "", p.fail("a line break or control character in a string; escape it")
		}
	}
}

// escape reads an escape sequence, after adding the text before it to decoded.
func (p *jsonParser) escape(decoded *[]byte, plain int) (rune, error) {
	*decoded = append(*decoded, p.data[plain:p.offset]...)
	rest := p.data[p.offset+1:]
	if len(rest) > 0 {
		if char, ok := simpleEscapes[rest[0]]; ok {
			p.offset += 2
			return rune(char), nil
		}
	}
	char, ok := unicodeEscape(p.data[p.offset:])
	if !ok {
		return 0, p.fail("not an escape sequence of JSON")
	}
	if utf16.IsSurrogate(char) {
		second, _ := unicodeEscape(p.data[p.offset+6:])
		if char = utf16.DecodeRune(char, second); char == utf8.RuneError {
			return 0, p.fail("half of a surrogate pair, which is not a character")
		}
		p.offset += 6
	}
	p.offset += 6
	return char, nil
}

// unicodeEscape reads \uXXXX at the beginning of text.
func unicodeEscape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	char, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(char), err == nil
}
