package wording_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

func TestList(t *testing.T) {
	assert.Equal(t, "nothing", wording.List(nil, 2))
	assert.Equal(t, "a", wording.List([]string{"a"}, 2))
	assert.Equal(t, "a, b", wording.List([]string{"a", "b"}, 2))
	assert.Equal(t, "a, b and 2 more", wording.List([]string{"a", "b", "c", "d"}, 2))
}

func TestNamesAreBoundedAndOnOneLine(t *testing.T) {
	for name, want := range map[string]string{
		"ship::open-pr":               "ship::open-pr",
		"acme.com/a_b$":               "acme.com/a_b$",
		"":                            `""`,
		"a b":                         `"a b"`,
		"a\nb":                        `"a\nb"`,
		strings.Repeat("a", 80):       strings.Repeat("a", 80),
		strings.Repeat("a", 81):       `"` + strings.Repeat("a", 80) + `"...`,
		strings.Repeat("a", 79) + "é": `"` + strings.Repeat("a", 79) + `"...`,
	} {
		assert.Equal(t, want, wording.Name(name))
	}
	assert.Equal(t, `a, "b c" and 1 more`, wording.List([]string{"a", "b c", "d"}, 2))
	assert.Equal(t, `; did you mean "a b"?`, wording.Hint("a c", []string{"a b"}))
}

func TestKind(t *testing.T) {
	for want, v := range map[string]any{
		"null": nil, "a boolean": true, "a string": "", "a list": []any{}, "an object": map[string]any{}, "an unknown value": struct{}{},
	} {
		assert.Equal(t, want, wording.Kind(v))
	}
	assert.Equal(t, "a number", wording.Kind(int64(1)))
	assert.Equal(t, "a number", wording.Kind(0.5))
}

func TestNearest(t *testing.T) {
	known := []string{"links", "label", "tooltip", "ticket", strings.Repeat("x", 200)}
	for name, want := range map[string]string{
		"link":                   "links",
		"LINKS":                  "links",
		"lniks":                  "links",
		"tooltyp":                "tooltip",
		"lxxel":                  "",
		"nothing like it":        "",
		"":                       "",
		strings.Repeat("x", 199): "",
	} {
		assert.Equal(t, want, wording.Nearest(name, known), name)
	}
	assert.Empty(t, wording.Nearest("links", append(make([]string, 1000), "links")), "too many to look at")
	assert.Equal(t, "a", wording.Nearest("c", []string{"b", "a"}), "the first by name")
	assert.Equal(t, "; did you mean links?", wording.Hint("link", known))
	assert.Empty(t, wording.Hint("nothing like it", known))
}

func TestAlso(t *testing.T) {
	assert.Equal(t, "a is missing; b is there", wording.Also("a is missing", "b is there"))
	assert.Equal(t, "did you mean a? B is there", wording.Also("did you mean a?", "b is there"))
}
