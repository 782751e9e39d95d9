package document

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// position is a place in the text. Both count from 1, the column in characters.
type position struct{ line, column int }

func (p position) String() string {
	return fmt.Sprintf("line %d, column %d", p.line, p.column)
}

func positionOf(data []byte, offset int) position {
	before := data[:min(offset, len(data))]
	return position{
		line:   1 + bytes.Count(before, []byte("\n")),
		column: 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]),
	}
}
