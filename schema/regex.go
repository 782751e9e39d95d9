package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Bounds of the regular expressions of one schema. The size is that of the
// compiled program, in instructions, which repetitions multiply.
const (
	maxPatternBytes  = 1024
	maxPatternSize   = 4096
	maxPatternsTotal = 20_000
)

// checkPattern returns the size of the program that the pattern compiles to, or
// the reason why it is refused, which never quotes it.
func checkPattern(pattern string) (int, string) {
	if len(pattern) > maxPatternBytes {
		return 0, fmt.Sprintf("the regular expression is longer than %d bytes", maxPatternBytes)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		if hint := ecmaHint(pattern); hint != "" {
			return 0, hint
		}
		return 0, "is not a regular expression that Go's regexp accepts"
	}
	size := programSize(parsed)
	if size > maxPatternSize {
		return 0, fmt.Sprintf("the regular expression is too large when its repetitions are written out: over %d steps", maxPatternSize)
	}
	return size, ""
}

// programSize estimates the compiled size without compiling: the parsed tree
// holds repetitions unexpanded.
func programSize(re *syntax.Regexp) int {
	size := 1
	for _, sub := range re.Sub {
		size += programSize(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		size += len(re.Rune)
	case syntax.OpCharClass:
		// One instruction, whose ranges are searched.
		size += len(re.Rune) / 4
	case syntax.OpRepeat:
		// With a nested depth of 1000 and factors of 1000 the product has to stop early.
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, 1<<30/1000)
}

// ecmaHint names the ECMA-262 construct that Go's regexp lacks, or returns "".
func ecmaHint(pattern string) string {
	for _, construct := range []struct{ text, name string }{
		{"(?=", "a lookahead (?=)"}, {"(?!", "a negative lookahead (?!)"},
		{"(?<=", "a lookbehind (?<=)"}, {"(?<!", "a negative lookbehind (?<!)"},
		{`\u`, `a \u escape (write \x{2028}, or the character)`}, {`\c`, `a \c escape`}, {`\k<`, `a named back reference \k<>`},
	} {
		if strings.Contains(pattern, construct.text) {
			return "the regular expression has " + construct.name + ", which Go's regexp does not have"
		}
	}
	for digit := '1'; digit <= '9'; digit++ {
		if strings.Contains(pattern, `\`+string(digit)) {
			return "the regular expression has a back reference, which Go's regexp does not have"
		}
	}
	return ""
}

// meteredRegexp charges a validation for the time that a match may take.
type meteredRegexp struct {
	*regexp.Regexp
	size  int
	meter *meter
}

func (re *meteredRegexp) MatchString(s string) bool {
	re.meter.match(re.size, len(s))
	return re.Regexp.MatchString(s)
}
