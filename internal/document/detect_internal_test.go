package document

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhatIsJSON(t *testing.T) {
	for text, want := range map[string]bool{
		` {"a": 1}`:        true,
		`[1]`:              true,
		`{"a": 1, "a": 2}`: true,
		`{a: 1}`:           false,
		`{"a": tru}`:       false,
		`a: {"b": 1}`:      false,
		`"text"`:           false,
		``:                 false,
	} {
		assert.Equal(t, want, isJSON([]byte(text)), text)
	}
}
