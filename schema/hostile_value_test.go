package schema_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/schema"
)

const costly = "too costly"

// nestedArray returns [[...inner]].
func nestedArray(depth int, inner any) any {
	for range depth {
		inner = []any{inner}
	}
	return inner
}

func text(length int) string { return strings.Repeat("a", length) }

func strings10k() []any { return repeat(10_000, func(i int) any { return fmt.Sprint(i) }) }

// Schemas that are acceptable, with values that make them expensive. says is
// part of the only problem, or "" where the value is checked in time.
var hostileValues = map[string]struct {
	schema any
	value  func() any
	says   string
}{
	"a member doubles": {
		object{"allOf": []any{object{"properties": object{"a": ref("#")}}, object{"properties": object{"a": ref("#")}}}},
		func() any { return nested(30, "a", true) }, costly},
	"a member doubles and fails, under not": {
		object{"not": object{"$ref": "#/$defs/s"}, "$defs": object{"s": object{"type": "object", "patternProperties": object{"a": ref("#/$defs/s"), "^a": ref("#/$defs/s")}}}},
		func() any { return nested(30, "a", true) }, costly},
	"items and contains double and fail, under not": {
		object{"not": ref("#/$defs/s"), "$defs": object{"s": object{"type": "array", "items": ref("#/$defs/s"), "contains": ref("#/$defs/s")}}},
		func() any { return nestedArray(30, true) }, costly},
	"alternatives double and fail": {
		object{"type": "object", "anyOf": []any{object{"properties": object{"a": ref("#")}}, object{"additionalProperties": ref("#")}}},
		func() any { return nested(30, "a", true) }, costly},
	"alternatives double and fail, under not": {
		object{"not": ref("#/$defs/s"), "$defs": object{"s": object{"type": "object", "anyOf": []any{object{"properties": object{"a": ref("#/$defs/s")}}, object{"properties": object{"a": ref("#/$defs/s")}}}}}},
		func() any { return nested(30, "a", true) }, costly},
	"a condition triples": {
		object{"if": object{"properties": object{"a": ref("#")}}, "then": object{"properties": object{"a": ref("#")}}, "else": object{"properties": object{"a": ref("#")}}},
		func() any { return nested(30, "a", true) }, costly},
	"dependent schemas double": {
		object{"dependentSchemas": object{"a": object{"properties": object{"a": ref("#")}}}, "properties": object{"a": ref("#")}},
		func() any { return nested(30, "a", true) }, costly},
	"unevaluated members double": {
		object{"oneOf": []any{object{"properties": object{"a": ref("#")}}, object{"not": object{"properties": object{"a": ref("#")}}}}, "unevaluatedProperties": false},
		func() any { return nested(30, "a", true) }, costly},
	"a dynamic reference doubles": {
		object{"$dynamicAnchor": "n", "allOf": []any{object{"properties": object{"a": object{"$dynamicRef": "#n"}}}, object{"properties": object{"a": object{"$dynamicRef": "#n"}}}}},
		func() any { return nested(30, "a", true) }, costly},
	"a dynamic reference doubles to a schema that nothing else reaches": {
		object{"$id": "https://example.com/r", "$ref": "list", "$defs": object{
			"node": object{"$dynamicAnchor": "n", "type": "array", "items": ref("list"), "contains": ref("list")},
			"list": object{"$id": "list", "$dynamicRef": "#n", "$defs": object{"n": object{"$dynamicAnchor": "n"}}}}},
		func() any { return nestedArray(30, []any{}) }, costly},
	"a recursive reference doubles": {
		object{"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true, "items": object{"$recursiveRef": "#"}, "contains": object{"$recursiveRef": "#"}},
		func() any { return nestedArray(30, []any{}) }, costly},
	"a member doubles in the oldest draft": {
		object{"$schema": "http://json-schema.org/draft-04/schema#", "allOf": []any{object{"properties": object{"a": ref("#")}}, object{"properties": object{"a": ref("#")}}}},
		func() any { return nested(30, "a", true) }, costly},
	"a regular expression over a long text": {
		object{"allOf": repeat(7, func(i int) any { return object{"pattern": fmt.Sprintf("(a|aa|b{0,900}){1}%dx$", i)} })},
		func() any { return text(1_000_000) }, costly},
	"patterns for members times members": {
		object{"patternProperties": object{"(.*a){40}b": true, "(.*a){40}c": true, "(.*a){40}d": true}},
		func() any {
			return named(3000, func(int) any { return object{text(200): true} })
		}, ""},
	"many patterns for many long names": {
		object{"additionalProperties": object{"patternProperties": object{"(.*a){40}b": true, "(.*a){40}c": true, "(.*a){40}d": true}}},
		func() any { return named(3000, func(int) any { return object{text(300): true} }) }, costly},
	"names against a pattern": {
		object{"propertyNames": object{"pattern": "(.*a){100}b"}},
		func() any {
			return named(900, func(i int) any { return i%2 == 0 })
		}, "more problems"},
	"equal hashes of unique items": {object{"uniqueItems": true}, func() any { return colliding(12) }, ""},
	"equal hashes of unique items, many times": {
		object{"allOf": repeat(100, func(int) any { return object{"uniqueItems": true} })},
		func() any { return colliding(12) }, costly},
	"unique items at every level": {
		object{"uniqueItems": true, "items": ref("#")},
		func() any {
			return nestedArray(28, repeat(10_000, func(i int) any { return int64(i) }))
		}, costly},
	"a large enum times many items": {
		object{"items": object{"enum": repeat(5000, func(i int) any { return fmt.Sprint("e", i) })}},
		func() any { return strings10k() }, costly},
	"a large constant times many items": {
		object{"items": object{"const": repeat(5000, func(i int) any { return int64(i) })}},
		func() any { return repeat(1000, func(int) any { return []any{} }) }, costly},
	"many alternatives times many items": {
		object{"items": object{"oneOf": repeat(900, func(i int) any { return object{"const": fmt.Sprint("e", i)} })}},
		func() any { return strings10k() }, costly},
	"many failures times many items": {
		object{"items": object{"allOf": repeat(900, func(i int) any { return object{"minLength": int64(i + 10)} })}},
		func() any { return strings10k() }, costly},
	"many failures deep down": {
		nested(28, "items", object{"allOf": repeat(900, func(i int) any {
			return object{"minLength": int64(i + 10), "maxLength": int64(0), "pattern": "b"}
		})}),
		func() any { return nestedArray(27, strings10k()) }, costly},
	"many missing fields times many items": {
		object{"items": object{"required": repeat(3000, func(i int) any { return fmt.Sprint("f", i) })}},
		func() any { return repeat(10_000, func(int) any { return object{} }) }, costly},
	"divisions of long fractions": {
		object{"items": object{"multipleOf": 5e-324}},
		func() any { return repeat(40_000, func(int) any { return 1.7e308 }) }, costly},
	"every item fails": {
		object{"items": object{"type": "object"}},
		func() any { return strings10k() }, "more problems"},
	"every member is unknown": {
		object{"properties": object{"value": true}, "additionalProperties": false},
		func() any { return named(20_000, func(int) any { return true }) }, "more problems"},
	"a hundred thousand levels":    {object{}, func() any { return nested(100_000, "a", true) }, "nested more than 32 deep"},
	"a hundred thousand arrays":    {object{}, func() any { return deepArray(100_000) }, "nested more than 32 deep"},
	"a value that holds itself":    {object{}, func() any { o := object{}; o["a"] = o; return o }, "nested more than 32 deep"},
	"a tree of 2^30 leaves":        {object{}, func() any { return doubled(30) }, "more than 50000 parts"},
	"a long text, many times over": {object{}, func() any { s := text(100_000); return repeat(40_000, func(int) any { return s }) }, "bytes of text"},
	"a long name":                  {object{}, func() any { return object{text(5000): true} }, "names that are too long"},
	"long names on the way to many": {object{}, func() any {
		return object{text(2000): object{text(2000): repeat(40_000, func(int) any { return true })}}
	}, "names that are too long"},
	"a number that is none":           {object{}, func() any { return []any{math.NaN()} }, "/0: is not a finite number"},
	"a number as the decoder read it": {object{}, func() any { return object{"a": json.Number("1")} }, "/a: is not a JSON value"},
	"something that is not JSON":      {object{}, func() any { return []any{object{"a": []string{}}} }, "/0/a: is not a JSON value"},
}

func TestHostileValuesAreContained(t *testing.T) {
	for name, test := range hostileValues {
		t.Run(name, func(t *testing.T) {
			compiled, err := schema.Compile(test.schema)
			require.NoError(t, err)
			value := test.value()
			isContained(t, func() {
				problems := compiled.Validate(value)
				if test.says == "" {
					assert.Empty(t, problems)
					return
				}
				assert.Contains(t, problems.Error(), test.says)
				assert.LessOrEqual(t, len(problems), schema.MaxProblems+1)
			})
			if test.says == costly {
				assert.Len(t, compiled.Validate(value), 1)
				assert.NotContains(t, compiled.Validate("x").Error(), costly, "the next value has a budget of its own")
			}
		})
	}
}
