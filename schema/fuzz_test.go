package schema_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/contained"
	"github.com/kargo-steps/publish-metadata/schema"
)

// fromJSON returns a JSON-native tree; false for what is none.
func fromJSON(text string) (any, bool) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil {
		return nil, false
	}
	return numbers(v)
}

func numbers(v any) (any, bool) {
	switch v := v.(type) {
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole, true
		}
		decimal, err := v.Float64()
		return decimal, err == nil
	case []any:
		for i := range v {
			var ok bool
			if v[i], ok = numbers(v[i]); !ok {
				return nil, false
			}
		}
	case map[string]any:
		for key := range v {
			var ok bool
			if v[key], ok = numbers(v[key]); !ok {
				return nil, false
			}
		}
	}
	return v, true
}

// FuzzValidate holds that nothing panics or hangs, that the answer is the same
// twice, and that it has no value in it.
func FuzzValidate(f *testing.F) {
	for _, seed := range [][2]string{
		{`{}`, `null`},
		{`{"type":"object","required":["opens"],"properties":{"opens":{"type":"string"}}}`, `{"opens":8}`},
		{`{"$ref":"#"}`, `1`},
		{`{"allOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`, `{"a":{"a":{"a":{"a":{}}}}}`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://a/","items":[{"$ref":"b"}],"additionalItems":false}`, `[1,2]`},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"items":{"$recursiveRef":"#"}}`, `[[[]]]`},
		{`{"$dynamicAnchor":"n","items":{"$dynamicRef":"#n"},"uniqueItems":true,"contains":{"const":1}}`, `[[1],[1.0],[]]`},
		{`{"patternProperties":{"^(a|b)*$":{"pattern":"x{3}"}},"propertyNames":{"maxLength":2},"unevaluatedProperties":false}`, `{"ab":"xx","ccc":1}`},
		{`{"oneOf":[{"enum":["a",1]},{"format":"date-time"}],"not":{"multipleOf":0.1}}`, `"CANARY"`},
		{`{"if":{"minimum":1e300},"then":{"$ref":"#/$defs/a"},"else":{"$anchor":"x"},"$defs":{"a":{"$id":"a.json","maxLength":2}}}`, `1e301`},
		{`{"x-entry-name":[["a"],["b"]],"dependentSchemas":{"a":{"dependentRequired":{"b":["c"]}}}}`, `{"a":1,"b":2}`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, schemaText, valueText string) {
		document, ok := fromJSON(schemaText)
		if !ok {
			return
		}
		value, ok := fromJSON(valueText)
		if !ok {
			return
		}
		began := time.Now()
		compiled, err := schema.Compile(document)
		if err != nil {
			var problems schema.Problems
			require.ErrorAs(t, err, &problems)
			require.NotEmpty(t, problems)
			require.NotContains(t, problems.Error(), "cannot be compiled", "a reason of our own")
			_, again := schema.Compile(document)
			require.Equal(t, err, again)
			return
		}
		first := compiled.Validate(value)
		require.NotContains(t, first.Error(), "cannot be validated")
		require.Equal(t, first, compiled.Validate(value))
		require.Less(t, time.Since(began), contained.Deadline)
	})
}
