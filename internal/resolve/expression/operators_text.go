package expression

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Limits of a regular expression.
const (
	maxPattern      = 1 << 10 // bytes
	maxInstructions = 2_000   // of its program
	maxPatterns     = 100     // compiled in one run

	// instructionCost is what an instruction at a byte of the text is charged: it
	// takes as long as copying so many bytes or more, and nothing can interrupt it.
	instructionCost = 4
)

func contains(text, part string) bool     { return strings.Contains(text, part) }
func startsWith(text, prefix string) bool { return strings.HasPrefix(text, prefix) }
func endsWith(text, suffix string) bool   { return strings.HasSuffix(text, suffix) }

func textOperator(test func(text, part string) bool) implementation {
	return func(c call, args []any) (any, error) {
		text, part, err := c.texts(args)
		if err != nil {
			return nil, err
		}
		return test(text, part), nil
	}
}

// pattern is a compiled regular expression and the size of its program.
type pattern struct {
	*regexp.Regexp
	instructions int
}

// compilePattern compiles an RE2 pattern. The error does not quote it.
func compilePattern(text string) (*pattern, error) {
	if len(text) > maxPattern {
		return nil, errors.New("the pattern is longer than 1024 bytes")
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		var invalid *syntax.Error
		if errors.As(err, &invalid) {
			return nil, errors.New("the pattern is not a regular expression (RE2): " + invalid.Code.String())
		}
		return nil, errors.New("the pattern is not a regular expression (RE2)")
	}
	if instructions(parsed) > maxInstructions {
		return nil, errors.New("the pattern is too large; repeat less")
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, errors.New("the pattern is not a regular expression (RE2)")
	}
	return &pattern{Regexp: compiled, instructions: instructions(parsed)}, nil
}

// instructions estimates the size of a pattern's program without making it:
// repeats multiply.
func instructions(re *syntax.Regexp) int {
	count := 1 + len(re.Rune)/16
	if re.Op == syntax.OpLiteral {
		count = 1 + len(re.Rune)
	}
	for _, sub := range re.Sub {
		count += instructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		count = times(count, max(re.Min, re.Max, 1))
	}
	return min(count, 1<<30)
}

// matches tests a string against a pattern; it costs the length of the text
// times the size of the pattern.
func matches(c call, args []any) (any, error) {
	text, err := c.text(args, 0)
	if err != nil {
		return nil, err
	}
	compiled := c.site.regexp
	if compiled == nil {
		if compiled, err = c.dynamic(args); err != nil {
			return nil, err
		}
	}
	if err := c.charge(times(times(instructionCost, len(text)+1), compiled.instructions)); err != nil {
		return nil, err
	}
	return compiled.MatchString(text), nil
}

// dynamic returns a computed pattern, compiled once a run.
func (c call) dynamic(args []any) (*pattern, error) {
	text, err := c.text(args, 1)
	if err != nil {
		return nil, err
	}
	if known, ok := c.patterns[text]; ok {
		return known, nil
	}
	if len(c.patterns) >= maxPatterns {
		return nil, c.fail("more than %d different patterns", maxPatterns)
	}
	compiled, err := compilePattern(text)
	if err != nil {
		return nil, c.fail("%s", err)
	}
	if c.patterns == nil {
		c.patterns = map[string]*pattern{}
	}
	c.patterns[text] = compiled
	return compiled, c.charge(times(64, compiled.instructions))
}
