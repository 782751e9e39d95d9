// Package document reads the documents that people and machines hand in, and
// edits those that are theirs to keep.
//
// In: the bytes of one JSON or YAML document. Out: a JSON-native tree (package
// value), or the same bytes with a few values replaced. What is hostile is
// refused before it costs much; every error is a *fault.Error with line and column.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// MaxBytes is the size of the largest document: four times what an API server
// stores in one object.
const MaxBytes = 4 << 20

const subject = "document"

// isJSON says whether a document begins with { or [ and is well-formed JSON (a key
// given twice or a number out of range does not matter).
func isJSON(data []byte) bool {
	if !looksLikeJSON(data) || len(data) > MaxBytes {
		return false
	}
	var problem *fault.Error
	_, err := parseJSON(data)
	return !errors.As(err, &problem) || len(problem.Problems) > 0
}

// Parse returns the JSON-native tree of exactly one document, JSON or YAML. What
// begins with { or [ and then a double quote is JSON: as YAML, its NaN or tru
// would be strings. What else begins so, such as {a: b}, is read as JSON and, if
// not well-formed, as YAML; if it is neither, the error is that of the JSON reader.
//
// The error is a *fault.Error about "document": TooLarge above MaxBytes, 64
// levels or 200 000 values; otherwise Invalid, with all the problems at once (by
// JSON Pointer) of a document that is well-formed.
func Parse(data []byte) (any, error) {
	if !looksLikeJSON(data) {
		return ParseYAML(data)
	}
	tree, errJSON := ParseJSON(data)
	if errJSON == nil || !errors.Is(errJSON, errMalformed) || bytes.HasPrefix(bytes.TrimLeft(data, "[{ \t\r\n"), []byte(`"`)) {
		return tree, errJSON
	}
	tree, err := ParseYAML(data)
	if errors.Is(err, errMalformed) {
		return nil, errJSON
	}
	return tree, err
}

// ParseJSON is Parse for JSON (RFC 8259) alone.
func ParseJSON(data []byte) (any, error) {
	if err := acceptable(data); err != nil {
		return nil, err
	}
	return parseJSON(data)
}

// ParseYAML is Parse for YAML alone, in which scalars are those of the YAML 1.2
// core schema: NO, on, y and 2026-01-01 are strings. Refused are anchors,
// aliases, merge keys, tags of one's own, keys that are not scalars, and integers
// with leading zeros, which YAML 1.1 and 1.2 read differently. A key is its
// source text: 1 is "1". The tag ! alone is ignored. A document of more than
// 200 000 lines, commas, brackets, dashes and comments is TooLarge. The position
// of a syntax error is where the reader gave up, which may be after the mistake.
func ParseYAML(data []byte) (any, error) {
	if err := acceptable(data); err != nil {
		return nil, err
	}
	root, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	return treeOf(root)
}

// errMalformed is the cause of errors about syntax, which another syntax may accept.
var errMalformed = errors.New("not well-formed")

func malformed(at position, format string, args ...any) error {
	return fault.New(fault.Invalid, subject, at.String()+": "+fmt.Sprintf(format, args...), errMalformed)
}

func invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, subject, fmt.Sprintf(format, args...), nil)
}

func tooLarge(format string, args ...any) error {
	return fault.New(fault.TooLarge, subject, fmt.Sprintf(format, args...), nil)
}

// acceptable checks what holds for both formats, before either is parsed.
func acceptable(data []byte) error {
	switch {
	case len(data) > MaxBytes:
		return tooLarge("%d bytes, more than the limit of %d; send less", len(data), MaxBytes)
	case bytes.HasPrefix(data, []byte("\ufeff")):
		return invalid("line 1, column 1: begins with a byte order mark; save it as UTF-8 without one")
	case !utf8.Valid(data):
		return invalid("%s: not UTF-8; save it as UTF-8", positionOf(data, invalidAt(data)))
	case len(bytes.TrimSpace(data)) == 0:
		return invalid("empty; give one JSON or YAML document")
	}
	return nil
}

func invalidAt(data []byte) int {
	for offset := 0; offset < len(data); {
		char, width := utf8.DecodeRune(data[offset:])
		if char == utf8.RuneError && width == 1 {
			return offset
		}
		offset += width
	}
	return len(data)
}

func looksLikeJSON(data []byte) bool {
	text := bytes.TrimLeft(data, " \t\r\n")
	return len(text) > 0 && strings.IndexByte("{[", text[0]) >= 0
}
