package schema

import (
	"context"
	"fmt"
)

// What the schemas of one Budget may be, and its validations may cost, together.
const (
	maxAllParts    = 20_000
	maxAllText     = 256 << 10
	maxAllPatterns = 2 * maxPatternsTotal
	maxAllSteps    = 500_000
	maxAllMatches  = 80_000_000
)

// Budget is what one request may spend on schemas of its own and on validations.
// It is not safe for concurrent use.
type Budget struct {
	parts, text, patterns int
	steps, matches        int
}

// NewBudget returns a Budget of 20 000 parts and 256 KiB of text of schemas
// and 40 000 steps of their regular expressions; 500 000 steps of validations, and
// 80 000 000 of regular expressions in them.
func NewBudget() *Budget {
	return &Budget{parts: maxAllParts, text: maxAllText, patterns: maxAllPatterns, steps: maxAllSteps, matches: maxAllMatches}
}

// Compile is Compile within the budget. What the document takes is spent, also
// when it is refused.
func (b *Budget) Compile(document any) (*Schema, error) { return compile(document, false, b) }

// takeDocument spends the parts and the text of a document.
func (b *Budget) takeDocument(size measure) Problems {
	if b == nil {
		return nil
	}
	if size.nodes > b.parts || size.bytes > b.text {
		return Problems{{Message: fmt.Sprintf(
			"the schemas of a request have more than %d parts or %d bytes of text together: make them smaller, or register them", maxAllParts, maxAllText)}}
	}
	b.parts, b.text = b.parts-size.nodes, b.text-size.bytes
	return nil
}

// takePatterns spends what the regular expressions of a document compile to.
func (b *Budget) takePatterns(size int) Problems {
	if b == nil {
		return nil
	}
	if size > b.patterns {
		return Problems{{Message: fmt.Sprintf(
			"the regular expressions of the schemas of a request are too large together: over %d steps", maxAllPatterns)}}
	}
	b.patterns -= size
	return nil
}

// Validate is s.Validate within the budget; the problems are all there are, in no
// order. It ends soon after ctx does, with problems that mean nothing.
func (b *Budget) Validate(ctx context.Context, s *Schema, v any) Problems {
	return s.validate(v, b, ctx.Err)
}

// limit lowers what a validation may do to what is left.
func (b *Budget) limit(m *meter) {
	if b != nil {
		m.steps, m.matches = min(m.steps, b.steps), min(m.matches, b.matches)
	}
}

// spend takes what a validation has done off what is left.
func (b *Budget) spend(m *meter, steps, matches int) {
	if b != nil {
		b.steps, b.matches = max(0, b.steps-(steps-m.steps)), max(0, b.matches-(matches-m.matches))
	}
}
