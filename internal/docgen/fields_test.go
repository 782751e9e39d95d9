package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFieldsAreRead(t *testing.T) {
	tests := map[string]struct {
		schema, kinds, limits, fallback, text string
	}{
		"the default is taken out of the description": {
			`{"type": "string", "description": "A label. Default: the host of url.", "minLength": 1, "maxLength": 80}`,
			"string", "1 to 80 characters", "the host of url", "A label.",
		},
		"the keyword's default is code, and so are the words of an enum": {
			`{"type": ["object", "boolean"], "description": "It.", "default": "fail", "enum": ["fail", "keep"]}`,
			"object or boolean", "one of `fail`, `keep`", "`fail`", "It.",
		},
		"numbers and counts have their bounds": {
			`{"description": "It.", "minimum": -1, "maximum": 2, "maxItems": 3, "maxProperties": 4}`,
			"", "-1 to 2; at most 3 items; at most 4 members", "", "It.",
		},
		"a pattern of control characters is not shown, another is": {
			`{"description": "<it>", "maxLength": 9, "format": "web-url", "pattern": "^a|b$"}`,
			"", "at most 9 characters; format `web-url`; pattern `^a|b$`", "", "&lt;it>",
		},
		"one line is what the page says of strings in general": {
			`{"description": "It.", "pattern": "^[^\\x00-\\x1f]*$"}`, "", "", "", "It.",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var f field
			require.NoError(t, json.Unmarshal([]byte(test.schema), &f))
			assert.Equal(t, test.kinds, strings.Join(f.Type, " or "))
			assert.Equal(t, test.limits, f.limits())
			assert.Equal(t, test.fallback, f.fallback())
			assert.Equal(t, test.text, f.text())
		})
	}
}

func TestFieldsKeepTheOrderOfTheFile(t *testing.T) {
	var f field
	require.NoError(t, json.Unmarshal([]byte(`{"properties": {"z": {"title": "Z"}, "a": {}, "m": {}}}`), &f))
	var names []string
	for _, member := range f.Properties {
		names = append(names, member.name)
	}
	assert.Equal(t, []string{"z", "a", "m"}, names)
	assert.Equal(t, "Z", f.Properties.find("z").Title)
	assert.Empty(t, f.Properties.find("none"))
}

func TestACellDoesNotEndEarly(t *testing.T) {
	assert.Equal(t, "| `a\\|b` | c d |\n", row("`a|b`", "c\nd"))
}

func TestAnExampleIsOneLine(t *testing.T) {
	line, err := compact(json.RawMessage(`{"a":[1,{"b":"x, y"}],"c":{}}`))
	require.NoError(t, err)
	assert.Equal(t, []string{`{"a":`, `[1,`, `{"b":`, `"x,`, `y"}],`, `"c":`, `{}}`}, strings.Fields(line))
}
