package expression

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"

	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// source is an expression's text, which knows where its offsets are.
type source struct {
	text string
}

func newSource(text string) *source { return &source{text: text} }

// position returns line and column, both from 1, of an offset in runes.
func (s *source) position(offset int) (line, column int) {
	line, column = 1, 1
	for _, char := range s.text {
		if offset--; offset < 0 {
			break
		}
		column++
		if char == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

// failed returns an Error of kind Invalid at an offset in runes.
func (s *source) failed(offset int, format string, args ...any) *Error {
	line, column := s.position(offset)
	return &Error{
		Expression: s.text, Line: line, Column: column,
		Message: fmt.Sprintf(format, args...), Kind: fault.Invalid,
	}
}

// scan refuses, before anything parses it, a source that is too long or too
// nested, is not UTF-8, or is wrapped in ${{ }}.
func (s *source) scan() error {
	if len(s.text) > maxSource {
		size := len(s.text)
		s.text = "…" // an error must not carry megabytes
		err := s.failed(0, "the expression has %d bytes; the limit is %d", size, maxSource)
		err.Kind = fault.TooLarge
		return err
	}
	if !utf8.ValidString(s.text) {
		return s.failed(0, "the expression is not valid UTF-8")
	}
	if strings.TrimSpace(s.text) == "" {
		return s.failed(0, "the expression is empty")
	}
	return s.brackets()
}

func (s *source) brackets() error {
	runes := []rune(s.text)
	depth := 0
	for at := 0; at < len(runes); at++ {
		if end := skipped(runes, at); end > at {
			at = end - 1
			continue
		}
		switch runes[at] {
		case '(', '[', '{':
			if depth++; depth > maxNesting {
				err := s.failed(at, "brackets are nested more than %d deep", maxNesting)
				err.Kind = fault.TooLarge
				return err
			}
		case ')', ']', '}':
			if depth--; depth < 0 && pair(runes, at, '}', '}') {
				return s.failed(at, wrapped)
			}
		case '$':
			if pair(runes, at+1, '{', '{') {
				return s.failed(at, wrapped)
			}
		}
	}
	return nil
}

const wrapped = "write a bare expression, without ${{ }}"

func pair(runes []rune, at int, first, second rune) bool {
	return at+1 < len(runes) && runes[at] == first && runes[at+1] == second
}

// skipped returns the end of the string literal or comment at a position, or the
// position itself.
func skipped(runes []rune, at int) int {
	switch quote := runes[at]; {
	case quote == '\'' || quote == '"':
		for at++; at < len(runes) && runes[at] != quote; at++ {
			if runes[at] == '\\' {
				at++
			}
		}
		return min(at+1, len(runes))
	case quote == '`':
		// An escaped backtick is two, which read as the end of one literal and the
		// begin of the next: the same for this purpose.
		for at++; at < len(runes) && runes[at] != quote; at++ {
		}
		return min(at+1, len(runes))
	case pair(runes, at, '/', '/'):
		for at += 2; at < len(runes) && runes[at] != '\n'; at++ {
		}
		return at
	case pair(runes, at, '/', '*'):
		for at += 2; at < len(runes) && !pair(runes, at, '*', '/'); at++ {
		}
		return min(at+2, len(runes))
	}
	return at
}

// unparsed returns the parser's error, whose text comes from the source alone.
func (s *source) unparsed(err error) *Error {
	var located *file.Error
	if !errors.As(err, &located) {
		return s.failed(0, "cannot be parsed")
	}
	message := shortened(located.Message)
	if strings.Contains(message, "exceeds maximum allowed nodes") {
		failed := s.failed(0, "the expression has more than %d parts", maxNodes)
		failed.Kind = fault.TooLarge
		return failed
	}
	if hint := s.hyphen(located.From); hint != "" {
		message += "; " + hint
	}
	if strings.Contains(message, `Operator(":")`) {
		message += "; an object in a predicate stands in parentheses: ({name: .name})"
	}
	return s.failed(located.From, "%s", message)
}

var unquoted = regexp.MustCompile(`((?:task\.)?outputs)\.(\w+(?:(?:-|::)\w+)+)`)

// hyphen returns a hint if the offset is within outputs.<alias> where the alias
// needs quotes, else "".
func (s *source) hyphen(offset int) string {
	for _, match := range unquoted.FindAllStringSubmatchIndex(s.text, -1) {
		begin := utf8.RuneCountInString(s.text[:match[0]])
		end := begin + utf8.RuneCountInString(s.text[match[0]:match[1]])
		// The parser reports the token after the one that it cannot take.
		if begin <= offset && offset <= end+1 {
			outputs, alias := s.text[match[2]:match[3]], s.text[match[4]:match[5]]
			return fmt.Sprintf(`an alias with "-" or "::" is read by %s['%s']`, outputs, alias)
		}
	}
	return ""
}
