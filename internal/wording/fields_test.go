package wording_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

func TestFieldsAreCapped(t *testing.T) {
	var fields []string
	for n := range 23 {
		fields = append(fields, "."+strconv.Itoa(n))
	}
	assert.Equal(t, ".0; .1", wording.Fields(fields[:2]))
	assert.NotContains(t, wording.Fields(fields[:20]), "more")
	shown := wording.Fields(fields)
	assert.True(t, strings.HasSuffix(shown, "; .19; and 3 more"), shown)
}
