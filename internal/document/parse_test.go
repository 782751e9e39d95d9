package document_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/document"
)

type object = map[string]any

func TestScalarsAreThoseOfYAML12(t *testing.T) {
	cases := map[string]any{
		"": nil, "~": nil, "null": nil, "NULL": nil, "nil": "nil", "none": "none",
		"true": true, "True": true, "FALSE": false, "tRue": "tRue",
		"NO": "NO", "no": "no", "yes": "yes", "on": "on", "Off": "Off", "n": "n", "y": "y", "t": "t",
		"3": int64(3), "-3": int64(-3), "+3": int64(3), "0": int64(0), "-0": int64(0), "-0.0": int64(0),
		"1e3": int64(1000), "5e10": int64(50000000000), "5.": int64(5), "+.5e1": int64(5), "12345678.0": int64(12345678),
		"1.10": 1.1, ".5": 0.5, "-.5": -0.5, "1.e-1": 0.1, "0.25": 0.25, "9007199254740993": int64(9007199254740993),
		"0o17": int64(15), "0x1F": int64(31), "0b11": "0b11", "-0x1": "-0x1", "0o8": "0o8", "0xg": "0xg",
		"1_000": "1_000", "1:30": "1:30", "1.2.3": "1.2.3", "v1.10": "v1.10", "-": "-", ".": ".", "+": "+", "1e": "1e",
		"2026-01-01": "2026-01-01", "2026-01-01T00:00:00Z": "2026-01-01T00:00:00Z", "infinity": "infinity", "NaN": "NaN",
		`"1"`: "1", `'007'`: "007", `""`: "", `"<<"`: "<<", "|-\n  007": "007", ">-\n  NO\n  yes": "NO yes", "a b": "a b",
		"!!str 007": "007", "!!int '3'": int64(3), "!!float 3": int64(3), "!!float 0.5": 0.5, "!!bool 'true'": true, "!!null ''": nil,
		"!!seq [a]": []any{"a"}, "!!map {a: b}": object{"a": "b"},
	}
	for text, want := range cases {
		if text == "-" { // a list item otherwise
			text = "[-a, '-']"
			want = []any{"-a", "-"}
		}
		t.Run(text, func(t *testing.T) {
			tree, err := document.Parse([]byte("key: " + text + "\n"))
			require.NoError(t, err)
			assert.Equal(t, object{"key": want}, tree)
		})
	}
}

func TestParseReads(t *testing.T) {
	cases := map[string]struct {
		in   string
		want any
	}{
		"odd scalars of a flow object": {"{country: NO, on: push, n: 3, tag: 1.10}", object{"country": "NO", "on": "push", "n": int64(3), "tag": 1.1}},
		"keys are source text":         {"1: a\nnull: b\n~: c\nyes: d\n1.10: e\n'<<': f\n\"\": g\n!!str x: h\n", object{"1": "a", "null": "b", "~": "c", "yes": "d", "1.10": "e", "<<": "f", "": "g", "x": "h"}},
		"one document in markers":      {"%YAML 1.2\n--- # here\na: b\n...\n# there\n", object{"a": "b"}},
		"a scalar alone":               {"text\n", "text"},
		"null alone":                   {"null", nil},
		"an empty text alone":          {`""`, ""},
		"a list":                       {"- a\n- - 1\n-\n", []any{"a", []any{int64(1)}, nil}},
		"CRLF":                         {"a: b\r\nc: |\r\n  d\r\n", object{"a": "b", "c": "d\n"}},
		"JSON with tabs":               {"\t{\n\t\"a\" : [ 1 , 2.50 , -0 , 1e2 ]\r\n}\n", object{"a": []any{int64(1), 2.5, int64(0), int64(100)}}},
		"JSON of all kinds":            {`{"a":null,"b":true,"c":false,"d":{},"e":[],"f":[[]],"g":""}`, object{"a": nil, "b": true, "c": false, "d": object{}, "e": []any{}, "f": []any{[]any{}}, "g": ""}},
		"JSON escapes":                 {`["\"\\\/\b\f\n\r\t","\u00e9\ud83d\ude00é😀","a\u0041b"]`, []any{"\"\\/\b\f\n\r\t", "é😀é😀", "aAb"}},
		"JSON keys with escapes":       {`{"\u0061":1,"b/c~":2}`, object{"a": int64(1), "b/c~": int64(2)}},
		"flow YAML with a comma last":  {"{a: [1, 2,],}", object{"a": []any{int64(1), int64(2)}}},
		"YAML that begins with a list": {"[a, b]", []any{"a", "b"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			tree, err := document.Parse([]byte(test.in))
			require.NoError(t, err)
			assert.Equal(t, test.want, tree)
		})
	}
}
