//go:build unix

package step_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/step"
)

// manyItems is a request of fifty items, each of which is within the limits of one.
type manyItems struct {
	outputs any
	// item returns the n-th item; its key is example.com/k<n> where it has none.
	item func(n int) map[string]any
	want string
}

// expression returns items with one expression, and others with one step.
func expression(source string) func(int) map[string]any {
	return func(int) map[string]any {
		return map[string]any{"schema": map[string]any{}, "fromExpression": source}
	}
}

func fromStep(key any, alias string) func(int) map[string]any {
	return func(int) map[string]any {
		return map[string]any{"key": key, "fromStep": map[string]any{"as": alias}}
	}
}

// titled returns items with schemas that differ, since %d is the item's number,
// and a member beside.
func titled(schema, member string, value any) func(int) map[string]any {
	return func(n int) map[string]any {
		return map[string]any{"schema": json.RawMessage(fmt.Appendf(nil, schema, n)), member: value}
	}
}

func manyExpressions() map[string]manyItems {
	outputs := map[string]any{"x": map[string]any{"a": repeated("", 49_000)}, "y": manyMembers()}
	return map[string]manyItems{
		"loops":         {nil, expression(`{"e":sum(map(1..1000,sum(1..1000)))}`), "the expressions of the request read or make more than"},
		"steps":         {nil, expression(`{"e":len(map(1..300,len(map(1..300, # > 3 ? 1 : 2))))}`), "the expressions of the request take more than"},
		"large results": {outputs, expression("outputs.x"), "the values of the request have more than 2097152 bytes of JSON"},
		"many aliases, none of them the right one": {
			manyMembers(), expression("task.outputs." + strings.Repeat("x", 120) + ".x"), "task.outputs.xxx",
		},
		"results that cannot be published, of large data": {
			outputs, expression(`{"a": 1/0}`), "/config/metadata/49/fromExpression/a: not a finite number",
		},
	}
}

func manySchemas() map[string]manyItems {
	var anyOf, patterns strings.Builder
	for i := range 900 {
		fmt.Fprintf(&anyOf, `{"const":%d},`, i)
	}
	for i := range 5 {
		fmt.Fprintf(&patterns, `"[a-cx-z]{1000}%d":true,`, i)
	}
	return map[string]manyItems{
		"schemas with many alternatives": {
			nil, titled(`{"title":"%d","$defs":{"a":{"anyOf":[`+anyOf.String()+`true]}},"additionalProperties":{"items":{"$ref":"#/$defs/a"}}}`,
				"fromExpression", `{"a":map(1..200,2000)}`), "the schemas of a request have more than",
		},
		"lists without equal items": {
			nil, titled(`{"title":"%d","properties":{"a":{"uniqueItems":true}}}`, "fromExpression", `{"a":map(1..9000,({"x":#}))}`),
			"the expressions of the request read or make more than",
		},
		"validations": {
			nil, titled(`{"title":"%d","additionalProperties":{"items":{"enum":[`+strings.Repeat("1,", 100)+`2]}}}`,
				"value", map[string]any{"a": repeated(2, 1_900)}), "is too costly to validate beside the other values of the request",
		},
		"regular expressions": {
			nil, titled(`{"title":"%d","patternProperties":{`+patterns.String()+`"b":true}}`, "value", map[string]any{"a": 1}),
			"the regular expressions of the schemas of a request are too large together",
		},
	}
}

func manySteps() map[string]manyItems {
	long := make(map[string]any)
	for i := range 1_000 {
		long[fmt.Sprintf("%060d", i)] = true
	}
	metadata := func(v any) map[string]any { return map[string]any{"s": map[string]any{"metadata": v}} }
	return map[string]manyItems{
		"many steps, none of them the right one": {manyMembers(), fromStep("links", strings.Repeat("x", 120)), "the steps with outputs are 20000 names"},
		"long names of steps, all of them alike": {long, fromStep("links", strings.Repeat("x", 60)), "the steps with outputs are 000"},
		"what one step offers, again and again":  {metadata(map[string]any{"links": manyMembers()}), fromStep("links", "s"), "bytes of JSON in all"},
		"many offers":                            {metadata(manyMembers()), fromStep("", "s"), "offers 20000 keys, more than 50"},
	}
}

func manyMembers() map[string]any {
	many := make(map[string]any)
	for i := range 20_000 {
		many[fmt.Sprintf("ship::a%d", i)] = true
	}
	return many
}

func TestRequestsOfManyItemsEndSoon(t *testing.T) {
	tests := manyExpressions()
	maps.Copy(tests, manySchemas())
	maps.Copy(tests, manySteps())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			items := make([]any, 50)
			for n := range items {
				item := test.item(n)
				switch item["key"] {
				case nil:
					item["key"] = fmt.Sprintf("example.com/k%d", n)
				case "":
					delete(item, "key")
				}
				items[n] = item
			}
			r := request(test.outputs, items...)
			r.Context.(map[string]any)["meta"] = map[string]any{"step": map[string]any{"alias": "ship::publish"}}
			_, err := bounded(t, encode(t, r))
			require.Contains(t, []step.Kind{step.Invalid, step.TooLarge}, kindOf(t, err))
			require.ErrorContains(t, err, test.want)
		})
	}
}

func repeated(v any, times int) []any {
	list := make([]any, times)
	for i := range list {
		list[i] = v
	}
	return list
}

func TestADeadlineEndsARunSoon(t *testing.T) {
	anyOf := make([]any, 900)
	for i := range anyOf {
		anyOf[i] = map[string]any{"const": i}
	}
	for name, item := range map[string]map[string]any{
		"in expressions": {"schema": map[string]any{}, "fromExpression": `{"e":sum(map(1..1000,sum(1..1000)))}`},
		"in validations": {"schema": map[string]any{"additionalProperties": map[string]any{"items": map[string]any{"anyOf": anyOf}}}, "value": map[string]any{"a": repeated(2000, 200)}},
	} {
		t.Run(name, func(t *testing.T) {
			items := make([]any, 8)
			for n := range items {
				copied := maps.Clone(item)
				copied["key"] = fmt.Sprintf("example.com/k%d", n)
				items[n] = copied
			}
			for _, after := range []time.Duration{0, time.Millisecond, 10 * time.Millisecond} {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				_, runner := newManifest(t)
				result, err := runner.Run(ctx, request(nil, items...))
				require.ErrorIs(t, err, step.Timeout)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, step.Errored, result.Status)
			}
		})
	}
}
