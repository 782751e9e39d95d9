package document_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
)

func TestParseRefuses(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"nothing":                         {"", "empty; give one JSON or YAML document"},
		"spaces":                          {" \n\t\n", "empty; give one JSON or YAML document"},
		"comments":                        {"# canary\n", "empty; give one JSON or YAML document"},
		"an empty YAML document":          {"---\n...\n", "empty; give one JSON or YAML document"},
		"a byte order mark":               {"\ufeff{}", "line 1, column 1: begins with a byte order mark; save it as UTF-8 without one"},
		"bytes that are not UTF-8":        {"a: b\nü: \xff", "line 2, column 4: not UTF-8; save it as UTF-8"},
		"UTF-16":                          {"\xff\xfea\x00", "line 1, column 1: not UTF-8; save it as UTF-8"},
		"a second YAML document":          {"a: canary\n---\nb: c\n", "line 2, column 1: a second YAML document; give one"},
		"an empty second YAML document":   {"a: b\n---\n", "line 2, column 1: a second YAML document; give one"},
		"a second JSON value":             {"{\"a\":1}\n {}", "line 2, column 2: more text after the JSON value; give one document"},
		"a malformed second document":     {"a: b\n---\nb: [\n", "line 3, column 4: expected a value"},
		"JSON cut short":                  {`{"a": [1,`, "line 1, column 10: the JSON ends where a value is expected"},
		"JSON cut in a text":              {`{"a": "canary`, "line 1, column 7: a string without an end"},
		"a JSON word":                     {`{"a": canary}`, "line 1, column 7: expected a JSON value; text has to be in double quotes"},
		"Python's NaN":                    {`{"a": NaN}`, "line 1, column 7: expected a JSON value; text has to be in double quotes"},
		"a JSON number with leading zero": {`{"a": 007}`, "line 1, column 7: not a JSON number"},
		"no JSON key":                     {`{"a": 1, }`, "line 1, column 10: expected a key in double quotes"},
		"no JSON colon":                   {`{"a" 1}`, "line 1, column 6: expected a colon after the key"},
		"no JSON comma":                   {"{\n\"é\": \"é\" \"canary\"}", "line 2, column 10: expected a comma or }"},
		"no end of a JSON list":           {`{"a": [1 2]}`, "line 1, column 10: expected a comma or ]"},
		"a line break in a JSON text":     {"{\"a\": \"x\ny\"}", "line 1, column 9: a line break or control character in a string; escape it"},
		"an unknown JSON escape":          {`{"a": "\x41"}`, "line 1, column 8: not an escape sequence of JSON"},
		"a short JSON escape":             {`{"a": "\u00"}`, "line 1, column 8: not an escape sequence of JSON"},
		"half a surrogate pair":           {`{"a": "\ud83dx"}`, "line 1, column 8: half of a surrogate pair, which is not a character"},
		"two halves that do not match":    {`{"a": "\ud83d\u0041"}`, "line 1, column 8: half of a surrogate pair, which is not a character"},
		"a malformed JSON key":            {`{"a\q": 1}`, "line 1, column 4: not an escape sequence of JSON"},
		"neither JSON nor YAML":           {"{a: b", "line 1, column 2: expected a key in double quotes"},
		"a colon too many":                {"a: b: canary\n", "line 1, column 5: a colon where no key can be; check the indentation, or quote the text"},
		"a key too deep":                  {"a: canary\n b: 2\n", "line 2, column 3: a colon where no key can be; check the indentation, or quote the text"},
		"a key too shallow":               {"a:\n   b: 1\n  c: 2\n", "line 3, column 4: expected a key; check the indentation"},
		"an item among keys":              {"a: 1\n- b\n", "line 2, column 3: expected a key; check the indentation"},
		"a list without an end":           {"a: [1, 2\nb: 3\n", "line 2, column 4: expected a comma or the closing bracket"},
		"a text without an end":           {"a: \"canary\n", "line 1, column 10: the document ends inside a quoted text"},
		"a tab":                           {"a:\n\tb: c\n", "line 2, column 1: a character that no value can start with, such as a tab; quote the text"},
		"an at sign":                      {"a: @canary\n", "line 1, column 4: a character that no value can start with, such as a tab; quote the text"},
		"a control character":             {"a: \x01\n", "line 1, column 4: a control character; escape it in double quotes"},
		"an unknown alias":                {"a: *canary\n", "line 1, column 10: aliases are not supported; repeat the value"},
		"an unknown directive":            {"%canary\n---\na: b\n", "line 1, column 5: a malformed directive"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			tree, err := document.Parse([]byte(test.in))
			assert.Nil(t, tree)
			require.ErrorIs(t, err, fault.Invalid)
			assert.Equal(t, "document: "+test.want, err.Error())
			assert.NotContains(t, err.Error(), "canary")
		})
	}
}

const advice = "; a version or id has to be a string"

var problemCases = map[string]struct {
	in   string
	want []string
}{
	"JSON": {`{"a": [9223372036854775808, 1e400],
 "b": {"c": 1, "c": "canary", "c/d": 1.00000000000000000001},
 "b": 1e3000000}`, []string{
		"/a/0: line 1, column 8: an integral number outside int64" + advice,
		"/a/1: line 1, column 29: an integral number outside int64" + advice,
		"/b: line 3, column 2: a key given twice, first at line 2, column 2; keep one",
		"/b: line 3, column 7: a number that is too long, above 64 characters or 4 digits of exponent" + advice,
		"/b/c: line 2, column 16: a key given twice, first at line 2, column 8; keep one",
		"/b/c~1d: line 2, column 38: a number that is not exactly representable" + advice,
	}},
	"YAML scalars": {"a: 0777\nb: [.inf, -.INF, .nan]\nc: 1e400\nd: -007.5\ne: 0xFFFFFFFFFFFFFFFFF\nf: !!int 010\n", []string{
		"/a: line 1, column 4: a number with leading zeros is ambiguous; quote it",
		"/b/0: line 2, column 5: not a finite number; quote it if it is text",
		"/b/1: line 2, column 11: not a finite number; quote it if it is text",
		"/b/2: line 2, column 18: not a finite number; quote it if it is text",
		"/c: line 3, column 4: an integral number outside int64" + advice,
		"/d: line 4, column 4: a number with leading zeros is ambiguous; quote it",
		"/e: line 5, column 4: an integral number outside int64" + advice,
		"/f: line 6, column 4: a number with leading zeros is ambiguous; quote it",
	}},
	"YAML keys": {"a: canary\n? [b]\n: 1\n? {c: d}\n: 2\n'a': {x: 1, x: 2}\nn: 1\nn: 2\n<<: {e: f}\n!!int 3: g\n? &h h\n: 1\n? *h\n: 2\n? \n: 3\n", []string{
		"line 10, column 1: a tag at a key; keys are text",
		"line 11, column 3: an anchor at a key; anchors are not supported",
		"line 13, column 3: a key that is an alias; aliases are not supported",
		"line 15, column 2: a key without text; quote it",
		"line 2, column 3: a key that is a list or object; keys have to be text",
		"line 4, column 3: a key that is a list or object; keys have to be text",
		"line 9, column 1: merge keys are not supported; repeat the members, or quote the key",
		"/a: line 6, column 1: a key given twice, first at line 1, column 1; keep one",
		"/a/x: line 6, column 13: a key given twice, first at line 6, column 7; keep one",
		"/n: line 8, column 1: a key given twice, first at line 7, column 1; keep one",
	}},
	"YAML features": {"a: &x canary\nb: *x\nc: !secret canary\nd: !!binary Y2FuYXJ5\ne: !!int canary\nf: !!float 'x'\ng: !!null x\nh: !!bool 1\ni: !!set {}\nj: !!map []\n", []string{
		"/a: line 1, column 4: anchors are not supported; leave it out",
		"/b: line 2, column 4: aliases are not supported; repeat the value",
		"/c: line 3, column 4: a tag that does not fit or is not supported; leave it out",
		"/d: line 4, column 4: a tag that does not fit or is not supported; leave it out",
		"/e: line 5, column 4: a tag that does not fit or is not supported; leave it out",
		"/f: line 6, column 4: a tag that does not fit or is not supported; leave it out",
		"/g: line 7, column 4: a tag that does not fit or is not supported; leave it out",
		"/h: line 8, column 4: a tag that does not fit or is not supported; leave it out",
		"/i: line 9, column 4: a tag that does not fit or is not supported; leave it out",
		"/j: line 10, column 4: a tag that does not fit or is not supported; leave it out",
	}},
}

func TestParseReportsEveryProblem(t *testing.T) {
	for name, test := range problemCases {
		t.Run(name, func(t *testing.T) {
			tree, err := document.Parse([]byte(test.in))
			assert.Nil(t, tree)
			require.ErrorIs(t, err, fault.Invalid)
			var problems *fault.Error
			require.ErrorAs(t, err, &problems)
			got := []string{}
			for _, problem := range problems.Problems {
				got = append(got, problem.String())
			}
			assert.Equal(t, test.want, got)
			assert.NotContains(t, err.Error(), "canary")
		})
	}
}

func TestParseBoundsItsReport(t *testing.T) {
	long := strings.Repeat("k", 1<<20)
	for name, in := range map[string]string{
		"JSON": `{"short": {"` + long + `": [` + strings.Repeat("1e400,", 100) + `1]}}`,
		"YAML": "short:\n  ? " + long + "\n  : [" + strings.Repeat(".nan,", 100) + "1]\n",
		"keys": "{" + strings.Repeat(`"a": 1,`, 100) + `"a": 1}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := document.Parse([]byte(in))
			require.ErrorIs(t, err, fault.Invalid)
			assert.Contains(t, err.Error(), "and 50 more problems")
			assert.Less(t, len(err.Error()), 10_000)
		})
	}
}
