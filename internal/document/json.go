package document

import (
	"bytes"

	"github.com/kargo-steps/publish-metadata/internal/value"
)

// jsonParser is a parser of its own because encoding/json takes keys given twice
// and half surrogates, and knows no position of a value.
type jsonParser struct {
	report
	data   []byte
	offset int
}

// parseJSON recurses at most as deep as report.nest lets it.
func parseJSON(data []byte) (any, error) {
	p := &jsonParser{data: data}
	p.space()
	tree, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.space(); p.offset < len(data) {
		return nil, p.fail("more text after the JSON value; give one document")
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return tree, nil
}

func (p *jsonParser) at(offset int) func() position {
	return func() position { return positionOf(p.data, offset) }
}

func (p *jsonParser) fail(format string, args ...any) error {
	return malformed(positionOf(p.data, p.offset), format, args...)
}

func (p *jsonParser) space() {
	for p.offset < len(p.data) {
		switch p.data[p.offset] {
		case ' ', '\t', '\r', '\n':
			p.offset++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end.
func (p *jsonParser) peek() byte {
	if p.offset < len(p.data) {
		return p.data[p.offset]
	}
	return 0
}

func (p *jsonParser) value() (any, error) {
	start := p.offset
	if err := p.count(p.at(start)); err != nil {
		return nil, err
	}
	switch next := p.peek(); {
	case next == '{' || next == '[':
		if err := p.nest(p.at(start)); err != nil {
			return nil, err
		}
		p.offset++
		if next == '{' {
			return p.object()
		}
		return p.list()
	case next == '"':
		return p.text()
	case next == '-' || next >= '0' && next <= '9':
		return p.number()
	case p.offset == len(p.data):
		return nil, p.fail("the JSON ends where a value is expected")
	}
	return p.word()
}

func (p *jsonParser) list() (any, error) {
	list := []any{}
	if p.space(); p.peek() == ']' {
		p.offset++
		return list, nil
	}
	for {
		p.enter(token{index: len(list)})
		p.space()
		item, err := p.value()
		p.leave()
		if err != nil {
			return nil, err
		}
		list = append(list, item)
		if more, err := p.more(']'); err != nil || !more {
			return list, err
		}
	}
}

func (p *jsonParser) object() (any, error) {
	object, offsets := map[string]any{}, map[string]int{}
	if p.space(); p.peek() == '}' {
		p.offset++
		return object, nil
	}
	for {
		p.space()
		start := p.offset
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		if first, twice := offsets[key]; twice {
			p.twice(key, p.at(start), p.at(first))
		} else {
			offsets[key] = start
		}
		p.enter(keyToken(key))
		member, err := p.value()
		p.leave()
		if err != nil {
			return nil, err
		}
		object[key] = member
		if more, err := p.more('}'); err != nil || !more {
			return object, err
		}
	}
}

// key reads a key and the colon after it.
func (p *jsonParser) key() (string, error) {
	if p.peek() != '"' {
		return "", p.fail("expected a key in double quotes")
	}
	key, err := p.text()
	if err != nil {
		return "", err
	}
	if p.space(); p.peek() != ':' {
		return "", p.fail("expected a colon after the key")
	}
	p.offset++
	p.space()
	return key, nil
}

// more reads what follows a member: a comma, or the end of the list or object.
func (p *jsonParser) more(end byte) (bool, error) {
	p.space()
	switch p.peek() {
	case ',':
		p.offset++
		return true, nil
	case end:
		p.offset++
		return false, nil
	}
	return false, p.fail("expected a comma or %c", end)
}

func (p *jsonParser) word() (any, error) {
	for word, meaning := range map[string]any{"null": nil, "true": true, "false": false} {
		if bytes.HasPrefix(p.data[p.offset:], []byte(word)) {
			p.offset += len(word)
			return meaning, nil
		}
	}
	return nil, p.fail("expected a JSON value; text has to be in double quotes")
}

func (p *jsonParser) number() (any, error) {
	start := p.offset
	for p.offset < len(p.data) && bytes.IndexByte([]byte("+-.0123456789Ee"), p.data[p.offset]) >= 0 {
		p.offset++
	}
	literal := p.data[start:p.offset]
	if !isNumber(literal) {
		p.offset = start
		return nil, p.fail("not a JSON number")
	}
	number, err := value.Number(string(literal))
	if err != nil {
		p.add(p.at(start), "%s", err)
	}
	return number, nil
}
