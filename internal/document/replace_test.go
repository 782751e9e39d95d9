package document_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	yaml11 "sigs.k8s.io/yaml"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

type edit = document.Edit

func set(v any, path ...string) edit { return edit{Path: path, Value: v} }
func remove(path ...string) edit     { return edit{Path: path} }
func read(t *testing.T, f string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + f)
	require.NoError(t, err)
	return data
}

func stageEdits() []edit {
	return []edit{
		set("https://git.example.com/pr?id=2&tab=files", "status", "metadata", "links", "pr", "url"),
		set(object{
			"url": "https://ci.example.com:8443/run/1", "label": "NO", "n": int64(3), "duration": 1e-7, "empty": []any{},
			"steps": []any{"Build and test", "1.10", object{"text": "two\nlines"}},
		}, "status", "metadata", "links", "run"),
		set(object{}, "status", "metadata", "provenance"),
		set("007", "spec", "shard"),
		remove("status", "phase"),
		remove("status", "health", "issues"),
	}
}

func TestReplaceKeepsEveryOtherByteOfAStage(t *testing.T) {
	got, err := document.Replace(read(t, "stage.yaml"), stageEdits()...)
	require.NoError(t, err)
	assert.Equal(t, string(read(t, "stage.edited.yaml")), string(got))

	again, err := document.Replace(got, stageEdits()...)
	require.NoError(t, err)
	assert.Equal(t, string(got), string(again), "the same edits again change nothing")
}

func TestReplaceKeepsCRLF(t *testing.T) {
	crlf := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")) }
	got, err := document.Replace(crlf(read(t, "stage.yaml")), stageEdits()...)
	require.NoError(t, err)
	assert.Equal(t, string(crlf(read(t, "stage.edited.yaml"))), string(got))
}

func TestReplace(t *testing.T) {
	cases := map[string]struct {
		in    string
		edits []edit
		want  string
	}{
		"creates parents":                       {"a: 1\n", []edit{set("x", "b", "c", "d")}, "a: 1\nb:\n  c:\n    d: x\n"},
		"a null parent counts as missing":       {"a: # here\nb: 1\n", []edit{set("x", "a", "c")}, "a: # here\n  c: x\nb: 1\n"},
		"adds after a last line without an end": {"a: 1", []edit{set("x", "b")}, "a: 1\nb: x\n"},
		"leaves an empty parent":                {"a:\n  # gone too\n  b: 1\nc: 2\n", []edit{remove("a", "b")}, "a: {}\nc: 2\n"},
		"removes the parent if told":            {"a:\n  b: 1\n# of c\nc: 2\n", []edit{remove("a", "b"), remove("a")}, "# of c\nc: 2\n"},
		"removes the last member":               {"c: 2\na:\n  b: 1\n\n# tail\n", []edit{remove("a")}, "c: 2\n\n# tail\n"},
		"removes everything":                    {"a: 1 # x\n", []edit{remove("a")}, "{}\n"},
		"keeps a comment at a scalar":           {"a: 1   # one\nb: 2\n", []edit{set(int64(3), "a")}, "a: 3 # one\nb: 2\n"},
		"a list is written anew":                {"a:\n  - x # gone\n  - y\nb:\n  c: d\n", []edit{set([]any{"x", "z"}, "a")}, "a:\n  - x\n  - z\nb:\n  c: d\n"},
		"a flow object is written anew":         {"a: {b: 1,   c: 2}\nd: 3\n", []edit{set(int64(2), "a", "b")}, "a:\n  b: 2\n  c: 2\nd: 3\n"},
		"the indentation is the document's":     {"a:\n    b: 1\n", []edit{set(object{"d": true}, "a", "c")}, "a:\n    b: 1\n    c:\n        d: true\n"},
		"a scalar becomes an object":            {"a: 1\nb: 2\n", []edit{set(object{"x": 0.5}, "a")}, "a:\n  x: 0.5\nb: 2\n"},
		"an object becomes a list":              {"a:\n  x: 1\nb: 2\n", []edit{set([]any{nil}, "a")}, "a:\n- null\nb: 2\n"},
		"an object within its own key's object": {"a:\n  a:\n    a: 1\n", []edit{set(int64(2), "a", "a", "a")}, "a:\n  a:\n    a: 2\n"},
		"a root in flow style is written anew":  {"{a: 1, b: [x]} # gone\n", []edit{set(int64(2), "a")}, "a: 2\nb:\n- x\n"},
		"a null root":                           {"null\n", []edit{set(int64(2), "a")}, "a: 2\n"},
		"within document markers":               {"--- # start\na: 1\n...\n", []edit{set(int64(2), "b")}, "--- # start\na: 1\nb: 2\n...\n"},
		"after a directive":                     {"%YAML 1.2\n---\na: 1\n", []edit{set(int64(2), "a")}, "%YAML 1.2\n---\na: 2\n"},
		"a later edit wins":                     {"a: 1\n", []edit{set(int64(2), "a"), set(int64(3), "a")}, "a: 3\n"},
		"what is not there is not removed":      {"a:   1\n", []edit{remove("b", "c"), remove("d")}, "a:   1\n"},
		"the same number changes nothing":       {"a:   1.0\n", []edit{set(int64(1), "a")}, "a:   1.0\n"},
		"odd keys are quoted":                   {"a: 1\n", []edit{set("x", "1"), set("x", "n"), set("x", "<<"), set("x", "a\nb"), set("x", "x: y")}, "a: 1\n\"1\": x\n\"<<\": x\n\"a\\nb\": x\n\"n\": x\n\"x: y\": x\n"},
		"an explicit key":                       {"? a\n: 1\nb: 2\n", []edit{set("x", "a"), set("y", "c")}, "a: x\nb: 2\nc: \"y\"\n"},
		"beside explicit keys":                  {"x:\n  ? a # one\n  :\n    b: 1 # two\n  ? c\n  : d: 1\n", []edit{set("y", "x", "a", "b"), set("x", "x", "c", "d"), set("x", "x", "e")}, "x:\n  ? a # one\n  :\n    b: \"y\" # two\n  c:\n    d: x\n  e: x\n"},
		"an explicit key goes":                  {"? a\n: 1\n? b\n: 2\n", []edit{remove("a")}, "? b\n: 2\n"},
		"JSON is indented, its keys sorted":     {`{"b":1,"a":"<&>"}`, []edit{set([]any{1.5}, "c", "d")}, "{\n  \"a\": \"<&>\",\n  \"b\": 1,\n  \"c\": {\n    \"d\": [\n      1.5\n    ]\n  }\n}\n"},
		"JSON that stays stays":                 {`{"b":1,"a":2}`, []edit{remove("c")}, `{"b":1,"a":2}`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := document.Replace([]byte(test.in), test.edits...)
			require.NoError(t, err)
			assert.Equal(t, test.want, string(got))
		})
	}
}

func TestReplaceWritesStringsThatEveryReaderTakesForStrings(t *testing.T) {
	texts := []any{
		"1.10", "007", "5e10", "t", "T", "f", "null", "Null", "~", "", "NO", "no", "on", "Off", "y", "N", "true", "False",
		"0o7", "0x1F", "0b1", "1_000", "+1", "-1", ".5", ".inf", ".nan", "NaN", "infinity", "2026-01-01", "1:30", "<<", "=", "-", "- a", "? a",
		": a", "a: b", "a:", "a #b", "#a", "&a", "*a", "!a", "|", ">", "'a'", `"a"`, "%a", "@a", "`a`", "[a", "{a", " a", "a ", "a  b",
		"a\n", "a\n\nb", "\na", " a\nb", "a\n b", "a\nb\n\n", "a \nb", "a\tb\nc", "a\r\nb", "# a\nb", "\x7f", "\u009f", "\ufffe", "\uffff", "\u00a0", "\U000e0001", "---\na", "...", "\u2028", "\ufeff", "\x00", "\u0085", "é😀",
		"https://h/q?a=1&b=<2>", "https://h:8/", "Argo CD (test), main", "ship::links", "sha256:abc",
	}
	in := "a:\n  b:\n    c: 1\n"
	got, err := document.Replace([]byte(in), set(texts, "a", "b", "list"), set(object{"k": texts}, "a", "d"))
	require.NoError(t, err)
	var legacy object
	require.NoError(t, yaml11.Unmarshal(got, &legacy))
	assert.Equal(t, texts, legacy["a"].(object)["b"].(object)["list"], "as the Kubernetes tools read it")
	tree, err := document.ParseYAML(got)
	require.NoError(t, err)
	assert.Equal(t, texts, tree.(object)["a"].(object)["d"].(object)["k"])
}

func TestReplaceRefuses(t *testing.T) {
	cases := map[string]struct {
		in   string
		edit edit
		want string
	}{
		"an empty path":                {"a: 1\n", set("x"), "an edit without a path"},
		"a path that is not UTF-8":     {"a: 1\n", set("x", "\xff"), "an edit without a path, or with one that is not UTF-8"},
		"a path through a scalar":      {"a: {b: canary}\n", set("x", "a", "b", "c"), "/a/b: not an object"},
		"a path through a list":        {"a: [canary]\n", remove("a", "0"), "/a: not an object"},
		"a root that is a list":        {"[1]", set("x", "a"), "the root: not an object"},
		"a value that is not JSON":     {"a: 1\n", set(object{"b": make(chan int)}, "a"), "/a/b: a Go chan is not JSON"},
		"a document that is malformed": {"a: [canary\n", set("x", "a"), "line 1, column 10: expected a comma or the closing bracket"},
		"a key below its mark":         {"?\n  a\n: canary\n", set("x", "a"), "its layout cannot be edited in place"},
		"blank lines of a text":        {"a: |+\n  canary\n\n\nb: 1\n", set(int64(2), "c"), ""},
		"a text that owns its end":     {"b: 1\na: |+\n  canary\n\n", set(int64(2), "c"), "its layout cannot be edited in place"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := document.Replace([]byte(test.in), test.edit)
			if test.want == "" {
				require.NoError(t, err)
				return
			}
			assert.Nil(t, got)
			require.ErrorIs(t, err, fault.Invalid)
			assert.Contains(t, err.Error(), "document: "+test.want)
			assert.NotContains(t, err.Error(), "canary")
		})
	}
}

func TestReplaceBoundsItsResult(t *testing.T) {
	deep := any("x")
	for range 60 {
		deep = []any{deep}
	}
	_, err := document.Replace([]byte("a: 1\n"), set(deep, "b", "c", "d", "e", "f"))
	require.ErrorIs(t, err, fault.TooLarge)
}

func TestReplaceDoesNotChangeTheValue(t *testing.T) {
	v := object{"a": object{"b": int64(1)}}
	_, err := document.Replace([]byte("x: 1\n"), set(v, "y"), set(int64(2), "y", "a", "b"), remove("y", "a", "b"))
	require.NoError(t, err)
	assert.True(t, tree.Equal(object{"a": object{"b": int64(1)}}, v))
}

func TestWhatIsWrittenCanBeEditedAgain(t *testing.T) {
	for name, key := range map[string]string{
		"at the library's limit": strings.Repeat("k", 128), "above it": strings.Repeat("k", 129),
		"as long as a key may be": strings.Repeat("k", 253), "odd": strings.Repeat("\u00a0: ", 84), "longer than a reader looks": strings.Repeat("k", 5000),
	} {
		for _, v := range []any{"x", object{"url": "x", "list": []any{object{"a": []any{"b"}}}}, []any{"x"}, "two\nlines\n\n"} {
			first, err := document.Replace([]byte("a:\n  b: 1 # kept\n"), set(v, "a", key), set("x", "a", "z"))
			require.NoError(t, err, name)
			var legacy object
			require.NoError(t, yaml11.Unmarshal(first, &legacy), name)
			second, err := document.Replace(first, set("x", "a", "a"), set("y", "a", "z"), set(v, "a", "a"+key))
			require.NoError(t, err, name)
			last, err := document.Replace(second, set("y", "a", key), remove("a", "a"+key), remove("a", "z"), remove("a", "a"))
			require.NoError(t, err, name)
			require.True(t, strings.HasPrefix(string(last), "a:\n  b: 1 # kept\n  "), name)
			tree, err := document.Parse(last)
			require.NoError(t, err)
			require.Equal(t, object{"a": object{"b": int64(1), key: "y"}}, tree, name)
		}
	}
}

func TestLineBreaksOfYAML11(t *testing.T) {
	for _, lineBreak := range []string{"\r", "\u0085", "\u2028", "\u2029"} {
		for _, in := range []string{"a: 1" + lineBreak + "b: 2\n", lineBreak + lineBreak + "a: 1\n", "a:" + lineBreak + "  b: 1" + lineBreak + "c: 2"} {
			got, err := document.Replace([]byte(in), set("x", "b"))
			if err != nil {
				require.ErrorIs(t, err, fault.Invalid, "%q", in)
				continue
			}
			tree, err := document.Parse(got)
			require.NoError(t, err, "%q", in)
			require.Equal(t, "x", tree.(object)["b"], "%q", in)
		}
	}
}
