package schema_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/schema"
)

type object = map[string]any

func ref(target string) object { return object{"$ref": target} }

// nested returns {key: {key: ... inner}}.
func nested(depth int, key string, inner any) any {
	for range depth {
		inner = object{key: inner}
	}
	return inner
}

func repeat(count int, item func(i int) any) []any {
	list := make([]any, count)
	for i := range list {
		list[i] = item(i)
	}
	return list
}

func named(count int, member func(i int) any) object {
	all := object{}
	for i := range count {
		all[fmt.Sprintf("m%d", i)] = member(i)
	}
	return all
}

// Schemas that would take for ever, or all memory, or end the process.
var hostileSchemas = map[string]struct {
	document func() any
	says     string
}{
	"thirty doublings through definitions": {func() any {
		defs := object{"d30": object{"type": "string"}}
		for i := range 30 {
			next := fmt.Sprintf("#/$defs/d%d", i+1)
			defs[fmt.Sprintf("d%d", i)] = object{"allOf": []any{ref(next), ref(next)}}
		}
		return object{"$ref": "#/$defs/d0", "$defs": defs}
	}, "applies more than 2000 schemas to one value"},
	"thirty doublings through a condition": {func() any {
		defs := object{"d30": object{"type": "string"}}
		for i := range 30 {
			next := fmt.Sprintf("#/$defs/d%d", i+1)
			defs[fmt.Sprintf("d%d", i)] = object{"if": ref(next), "then": ref(next), "else": ref(next)}
		}
		return object{"properties": object{"a": ref("#/$defs/d0")}, "$defs": defs}
	}, "applies more than 2000 schemas to one value"},
	"a chain of a thousand references": {func() any {
		defs := named(1000, func(i int) any { return ref(fmt.Sprintf("#/$defs/m%d", i+1)) })
		defs["m1000"] = true
		return object{"$ref": "#/$defs/m0", "$defs": defs}
	}, "chain of more than 64"},
	"a hundred thousand levels":       {func() any { return nested(100_000, "not", true) }, "nested more than 32 deep"},
	"a hundred thousand arrays deep":  {func() any { return object{"const": deepArray(100_000)} }, "nested more than 32 deep"},
	"a value that holds itself":       {func() any { o := object{}; o["not"] = o; return o }, "nested more than 32 deep"},
	"a shared tree of 2^40 leaves":    {func() any { return object{"enum": doubled(40)} }, "nested more than 32 deep"},
	"a shared tree of 2^30 leaves":    {func() any { return object{"enum": doubled(29)} }, "more than 10000 parts"},
	"too many parts":                  {func() any { return object{"enum": repeat(10_001, func(i int) any { return int64(i) })} }, "more than 10000 parts"},
	"too many subschemas":             {func() any { return object{"$defs": named(2001, func(int) any { return true })} }, "more than 2000 subschemas"},
	"too much text":                   {func() any { return object{"description": strings.Repeat("x", 65<<10)} }, "more than 65536 bytes of text"},
	"one long name":                   {func() any { return object{"properties": object{strings.Repeat("x", 5000): true}} }, "names that are too long"},
	"long names on the way to many":   {longNames, "names that are too long"},
	"a number that is none":           {func() any { return object{"const": math.NaN()} }, "is not a finite number"},
	"an infinite number":              {func() any { return object{"minimum": math.Inf(1)} }, "is not a finite number"},
	"a number as the decoder read it": {func() any { return object{"minimum": json.Number("1e3000000")} }, "is not a JSON value"},
	"something that is not JSON":      {func() any { return object{"minimum": 1} }, "is not a JSON value"},
	"a long pattern":                  {func() any { return object{"pattern": strings.Repeat("a", 1025)} }, "longer than 1024 bytes"},
	"a pattern of many repetitions":   {func() any { return object{"pattern": strings.Repeat("x{1000}", 100)} }, "too large when its repetitions"},
	"a pattern of nested repetitions": {func() any { return object{"pattern": "(((((a{30}){30})|b){30})){30}"} }, "expression"},
	"a pattern of nested brackets":    {func() any { return object{"pattern": strings.Repeat("(", 1000) + strings.Repeat(")", 24)} }, "regular expression"},
	"a pattern of empty repetitions":  {func() any { return object{"pattern": "((){1000}){1000}(|a){1000}{1000}"} }, "expression"},
	"many patterns of some size": {func() any {
		return object{"allOf": repeat(100, func(i int) any { return object{"pattern": fmt.Sprintf("x{999}%d", i)} })}
	}, "too large together"},
	"many members' patterns": {func() any { return object{"patternProperties": manyPatterns()} }, "too large together"},
	"a definition for each definition": {func() any {
		return object{"$ref": "#/$defs/a", "$defs": object{"a": object{"allOf": repeat(1900, func(int) any { return ref("#/$defs/b") })}, "b": object{"anyOf": []any{true, false}}}}
	}, "applies more than 2000"},
	"equal hashes in an enum": {func() any {
		return object{"$schema": "http://json-schema.org/draft-04/schema#", "enum": append(colliding(10), "z", "z")}
	}, "has equal items"},
	"everything is wrong": {func() any {
		return object{"$defs": named(1900, func(int) any { return object{"type": int64(1), "minLength": "x", "required": "y"} })}
	}, "more problems"},
	"every name is unknown":            {func() any { return named(9000, func(int) any { return true }) }, "more problems"},
	"every dynamic reference is every": {everyDynamic, "refers to itself"},
}

func deepArray(depth int) any {
	var v any = []any{}
	for range depth {
		v = []any{v}
	}
	return v
}

// doubled returns an array that is small in memory and has 2^depth leaves.
func doubled(depth int) []any {
	v := []any{"x"}
	for range depth {
		v = []any{v, v}
	}
	return v
}

func longNames() any {
	var inner any = object{"allOf": repeat(1000, func(int) any { return object{"type": "string"} })}
	for range 5 {
		inner = object{"properties": object{strings.Repeat("x", 700): inner}}
	}
	return inner
}

func manyPatterns() any {
	patterns := object{}
	for i := range 1000 {
		patterns[fmt.Sprintf("^a{%d}", i)] = true
	}
	return patterns
}

// colliding returns 2^bits different arrays of strings with one hash in the library.
func colliding(bits int) []any {
	return repeat(1<<bits, func(i int) any {
		item, part := []any{}, "a"
		for bit := range bits {
			if i>>bit&1 == 1 {
				part += "\x04a"
			} else {
				item, part = append(item, part), "a"
			}
		}
		return append(item, part)
	})
}

func everyDynamic() any {
	return object{"$defs": named(600, func(i int) any {
		return object{"$id": fmt.Sprintf("https://example.com/%d", i), "$dynamicAnchor": "n", "allOf": []any{object{"$dynamicRef": "#n"}}}
	})}
}

func TestHostileSchemasAreRefused(t *testing.T) {
	for name, test := range hostileSchemas {
		t.Run(name, func(t *testing.T) {
			document := test.document()
			isContained(t, func() {
				problems := compileProblems(t, document)
				require.NotEmpty(t, problems)
				assert.LessOrEqual(t, len(problems), schema.MaxProblems+1)
				assert.Contains(t, problems.Error(), test.says)
			})
		})
	}
}

func TestLargeSchemasCompileInTime(t *testing.T) {
	for name, document := range map[string]any{
		"an id for each schema":            object{"$defs": named(900, func(i int) any { return object{"$id": fmt.Sprintf("https://example.com/%d", i), "type": "string"} })},
		"a reference for each definition":  object{"$schema": "http://json-schema.org/draft-07/schema#", "properties": named(900, func(i int) any { return ref(fmt.Sprintf("#/$defs/m%d", i)) }), "$defs": named(900, func(int) any { return object{"type": "string"} })},
		"equal hashes in an enum":          object{"$schema": "http://json-schema.org/draft-04/schema#", "enum": colliding(10)},
		"large numbers":                    object{"allOf": repeat(900, func(int) any { return object{"multipleOf": 5e-324, "minimum": -1.7e308, "maximum": 1.7e308} })},
		"a pattern of the size that fits":  object{"pattern": "^[a-z]{1,1000}$"},
		"members through members":          nested(29, "items", object{"type": "array"}),
		"a thousand alternatives of words": object{"oneOf": repeat(1000, func(i int) any { return object{"const": fmt.Sprint(i)} })},
	} {
		t.Run(name, func(t *testing.T) {
			isContained(t, func() { assert.Empty(t, compileProblems(t, document)) })
		})
	}
}

// A listener and a file that would change the verdict stand for all that must
// not be read.
func TestNothingOutsideASchemaIsRead(t *testing.T) {
	var touched atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("true"))
	}))
	server.Config.ConnState = func(net.Conn, http.ConnState) { touched.Add(1) }
	server.Start()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "s.json")
	require.NoError(t, os.WriteFile(file, []byte("true"), 0o600))
	t.Chdir(filepath.Dir(file))
	local := (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()

	targets := []string{server.URL + "/s.json", server.URL + "/s.json#/a", local, local + "#", "s.json", "./s.json#/a", file, "//" + server.Listener.Addr().String() + "/s.json"}
	for _, target := range targets {
		for name, document := range map[string]any{
			"a reference":                  ref(target),
			"a nested reference":           object{"properties": object{"a": object{"items": ref(target)}}},
			"a reference in an old draft":  object{"$schema": "http://json-schema.org/draft-04/schema#", "$ref": target},
			"a reference beside an id":     object{"$id": server.URL + "/root.json", "allOf": []any{ref(target)}},
			"a reference beside a file id": object{"$id": "file://" + filepath.ToSlash(filepath.Dir(file)) + "/root.json", "allOf": []any{ref(target)}},
			"an embedded id":               object{"$defs": object{"a": object{"$id": server.URL + "/dir/", "items": ref(target)}}},
			"a dynamic reference":          object{"$dynamicRef": target},
			"a recursive reference":        object{"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": target},
			"the draft":                    object{"$schema": target},
			"the draft of a subschema":     object{"$defs": object{"a": object{"$id": "https://example.com/a", "$schema": target}}},
			"a vocabulary":                 object{"$vocabulary": object{target: true}},
		} {
			assert.NotEmpty(t, compileProblems(t, document), "%s %s", name, target)
		}
		id, _, _ := strings.Cut(target, "#")
		compiled, err := schema.Compile(object{"$id": id, "type": "string", "$comment": target, "default": ref(target)})
		require.NoError(t, err, "a name that is not followed")
		assert.NotEmpty(t, compiled.Validate(int64(1)))
	}
	assert.Zero(t, touched.Load(), "no connection")
	response, err := http.Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.NotZero(t, touched.Load(), "the server counts connections")
}
