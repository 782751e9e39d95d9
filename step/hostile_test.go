//go:build unix

package step_test

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kargo-steps/publish-metadata/internal/contained"
	"github.com/kargo-steps/publish-metadata/step"
)

const (
	mostTime  = contained.Deadline
	mostBytes = 200 << 20
	// mostText is the longest error: an error is read by people and kept in a Promotion.
	mostText = 128 << 10
)

// bounded runs a document and fails when that takes much of the processor or
// memory. Processor time does not depend on what else the machine does.
func bounded(t *testing.T, document []byte) (step.Result, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := processorTime(t)
	result, err := runDocument(t, document)
	assert.Less(t, processorTime(t)-start, mostTime)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(mostBytes))
	assert.Less(t, len(result.Message), mostText)
	return result, err
}

func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func aliasBomb() string {
	var text strings.Builder
	text.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for level := range 7 {
		list := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", level), 9), ", ")
		fmt.Fprintf(&text, "a%d: &a%d [%s]\n", level+1, level+1, list)
	}
	return text.String()
}

const (
	contextText = `"context":{"project":"demo","stage":"test","meta":{"step":{"alias":"publish"}}}`
	prefix      = `{` + contextText + `,"config":{"metadata":[{"key":"links","value":`
	suffix      = `}]}}`
)

func TestHostileRequestsAreRefusedSoon(t *testing.T) {
	deep := func(open, shut string) string {
		return prefix + strings.Repeat(open, 100_000) + strings.Repeat(shut, 100_000) + suffix
	}
	long := strings.Repeat("k", 1<<20)
	tests := map[string]struct {
		document string
		kind     step.Kind
		message  []string
	}{
		"JSON lists 100 000 deep":           {deep("[", "]"), step.TooLarge, []string{"64"}},
		"JSON objects 100 000 deep":         {deep(`{"a":`, "}"), step.TooLarge, []string{"64"}},
		"JSON lists that are not closed":    {strings.Repeat("[", 100_000), step.TooLarge, nil},
		"YAML lists 100 000 deep":           {"a: " + strings.Repeat("[", 100_000), step.TooLarge, nil},
		"YAML dashes 100 000 deep":          {strings.Repeat("- ", 100_000), step.TooLarge, nil},
		"a request of 10 MiB":               {prefix + `"` + strings.Repeat("x", 10<<20) + `"` + suffix, step.TooLarge, []string{"4194304"}},
		"10 MiB of spaces":                  {strings.Repeat(" ", 10<<20), step.TooLarge, nil},
		"an alias bomb":                     {aliasBomb(), step.Invalid, []string{"aliases are not supported"}},
		"a million empty lists":             {prefix + "[" + strings.Repeat("[],", 1_000_000) + "0]" + suffix, step.TooLarge, nil},
		"a key given twice, in JSON":        {"{\n\"context\": {},\n\"config\": {},\n\"context\": {}\n}", step.Invalid, []string{"2", "4", "context"}},
		"a key given twice, in YAML":        {"context: {}\nconfig:\n  a: 1\n  b: 2\n  a: 3\n", step.Invalid, []string{"3", "5", "a"}},
		"two YAML documents":                {"a: 1\n---\nb: 2\n", step.Invalid, []string{"a second YAML document"}},
		"two JSON documents":                {"{}{}", step.Invalid, nil},
		"an empty document":                 {"", step.Invalid, []string{"empty"}},
		"a document of spaces":              {" \n\t\n", step.Invalid, nil},
		"a document that is a list":         {"[]", step.Invalid, []string{"not an object"}},
		"a document that is null":           {"null", step.Invalid, nil},
		"bytes that are no UTF-8":           {"{\"context\": \"\xff\xfe\"}", step.Invalid, []string{"UTF-8"}},
		"UTF-16":                            {"\xff\xfe{\x00}\x00", step.Invalid, nil},
		"a number out of range":             {prefix + `{"a":{"url":"https://a.example.com","order":1e400}}` + suffix, step.Invalid, []string{"/order"}},
		"a number of 200 kB":                {prefix + strings.Repeat("9", 200_000) + suffix, step.Invalid, nil},
		"a key of 1 MiB":                    {prefix + `{"` + long + `":{"url":"https://a.example.com"}}` + suffix, step.Invalid, nil},
		"an alias of 1 MiB":                 {`{` + contextText + `,"outputs":{"` + long + `":1},"config":{"metadata":[{"fromStep":{"as":"a"}}]}}`, step.Invalid, nil},
		"a key that a step offers, 1 MiB":   {`{` + contextText + `,"outputs":{"a":{"metadata":{"` + long + `":{}}}},"config":{"metadata":[{"fromStep":{"as":"a"}}]}}`, step.Invalid, nil},
		"an unknown member of 1 MiB":        {`{"` + long + `":1}`, step.Invalid, nil},
		"an unknown field of 1 MiB":         {`{` + contextText + `,"config":{"` + long + `":1,"metadata":[]}}`, step.Invalid, nil},
		"many unknown fields":               {prefix + `{"a":{"url":"https://a.example.com"` + strings.Join(names(20_000), "") + `}}` + suffix, step.Invalid, []string{"more problems"}},
		"more entries than allowed":         {prefix + `{"x":{}` + strings.Join(names(20_000), "") + `}` + suffix, step.Invalid, []string{"more than 500"}},
		"a string of 1 MiB":                 {prefix + `{"a":{"url":"https://a.example.com/` + long + `"}}` + suffix, step.Invalid, []string{"more than 32768"}},
		"more than one request may have":    {prefix + `{"x":{}` + strings.Join(large(200), "") + `}` + suffix, step.TooLarge, []string{"more than 262144"}},
		"more items than a config may have": {`{` + contextText + `,"config":{"metadata":[` + strings.TrimSuffix(strings.Repeat(`{"key":"links","value":{}},`, 5000), ",") + `]}}`, step.Invalid, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			result, err := bounded(t, []byte(test.document))
			require.ErrorIs(t, err, test.kind)
			require.Equal(t, step.Failed, result.Status)
			for _, part := range test.message {
				require.Contains(t, result.Message, part)
			}
		})
	}
}

func names(n int) []string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`,"f%d":1`, i)
	}
	return members
}

func large(n int) []string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`,"f%d":{"url":"https://a.example.com/%s"}`, i, strings.Repeat("x", 2000))
	}
	return members
}

func TestAByteOrderMarkIsNoPartOfTheRequest(t *testing.T) {
	for _, text := range []string{prefix + `{}` + suffix, "context: {project: demo, stage: test, meta: {step: {alias: a}}}\nconfig: {metadata: []}\n"} {
		result, err := bounded(t, []byte("\ufeff"+text))
		if err != nil {
			require.ErrorIs(t, err, step.Invalid)
			require.Contains(t, result.Message, "byte order mark")
		}
	}
}

func TestHostileSchemasAreRefusedSoon(t *testing.T) {
	doubling := map[string]any{}
	for i := range 40 {
		next := map[string]any{"$ref": fmt.Sprintf("#/$defs/d%d", i+1)}
		doubling[fmt.Sprintf("d%d", i)] = map[string]any{"allOf": []any{next, next}}
	}
	doubling["d40"] = map[string]any{"type": "object"}
	for name, schema := range map[string]any{
		"that refers to itself":          map[string]any{"$ref": "#"},
		"that refers to itself by ids":   map[string]any{"$id": "https://a.example.com/s", "$ref": "https://a.example.com/s"},
		"in a circle":                    map[string]any{"$ref": "#/$defs/a", "$defs": map[string]any{"a": map[string]any{"$ref": "#/$defs/b"}, "b": map[string]any{"$ref": "#/$defs/a"}}},
		"in a circle through allOf":      map[string]any{"allOf": []any{map[string]any{"$ref": "#"}}},
		"in a circle through not":        map[string]any{"not": map[string]any{"$ref": "#"}},
		"in a dynamic circle":            map[string]any{"$dynamicAnchor": "a", "$dynamicRef": "#a"},
		"that doubles at each $ref":      map[string]any{"$ref": "#/$defs/d0", "$defs": doubling},
		"that is fetched":                map[string]any{"$ref": "http://127.0.0.1:1/schema.json"},
		"that is a file":                 map[string]any{"$ref": "file:///etc/passwd"},
		"that is relative":               map[string]any{"$ref": "other.json"},
		"of an unknown draft":            map[string]any{"$schema": "https://a.example.com/draft"},
		"with a pattern that repeats":    map[string]any{"patternProperties": map[string]any{strings.Repeat("(a{1000}", 5) + strings.Repeat(")", 5): true}},
		"with a keyword that is unknown": map[string]any{"requierd": []any{"a"}},
		"with a huge enum":               map[string]any{"enum": make([]any, 100_000)},
		"of another type":                map[string]any{"type": "objekt"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := bounded(t, encode(t, request(nil, map[string]any{
				"key": "example.com/x", "schema": schema, "value": map[string]any{"a": map[string]any{"b": 1}},
			})))
			require.ErrorIs(t, err, step.Invalid)
			require.ErrorContains(t, err, "/config/metadata/0/schema")
		})
	}
	t.Run("accepted where it recurses through properties", func(t *testing.T) {
		_, err := bounded(t, encode(t, request(nil, map[string]any{
			"key": "example.com/x", "schema": map[string]any{"properties": map[string]any{"a": map[string]any{"$ref": "#"}}},
			"value": map[string]any{"a": map[string]any{"a": map[string]any{"b": 1}}},
		})))
		require.NoError(t, err)
	})
}

func TestHostileExpressionsAreRefusedSoon(t *testing.T) {
	var cases []struct {
		Name, Want string
		Parts      []struct {
			Text  string
			Times int
		}
	}
	source, err := os.ReadFile("../internal/resolve/expression/testdata/hostile.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(source, &cases))
	require.Greater(t, len(cases), 120)
	var env struct{ Outputs any }
	source, err = os.ReadFile("../internal/resolve/expression/testdata/env.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(source, &env))
	for _, test := range cases {
		t.Run(test.Name, func(t *testing.T) {
			var expression strings.Builder
			for _, part := range test.Parts {
				expression.WriteString(strings.Repeat(part.Text, max(1, part.Times)))
			}
			item, err := json.Marshal(expression.String())
			require.NoError(t, err)
			outputs, err := json.Marshal(env.Outputs)
			require.NoError(t, err)
			_, err = bounded(t, fmt.Appendf(nil, `{%s,"outputs":%s,"config":{"metadata":[{"key":"example.com/x","schema":{},"fromExpression":%s}]}}`,
				contextText, outputs, item))
			if err != nil {
				require.Contains(t, []step.Kind{step.Invalid, step.TooLarge}, kindOf(t, err))
			}
			if test.Want != "ok" {
				require.Error(t, err)
			}
		})
	}
}

func kindOf(t testing.TB, err error) step.Kind {
	t.Helper()
	var failure *step.Error
	require.ErrorAs(t, err, &failure)
	return failure.Kind
}
