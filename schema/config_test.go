package schema_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/xeipuuv/gojsonschema"

	"github.com/kargo-steps/publish-metadata/schema"
)

type shapeCases struct {
	Valid   map[string]tree `yaml:"valid"`
	Invalid map[string]struct {
		Value    tree     `yaml:"value"`
		Problems expected `yaml:"problems"`
	} `yaml:"invalid"`
}

func TestConfigAndRequest(t *testing.T) {
	for file, validate := range map[string]func(any) schema.Problems{
		"config.yaml": schema.ValidateConfig, "request.yaml": schema.ValidateRequest,
	} {
		cases := load[shapeCases](t, file)
		for name, valid := range cases.Valid {
			t.Run(file+": "+name, func(t *testing.T) {
				assert.Nil(t, validate(lengthen(valid.value)))
			})
		}
		for name, test := range cases.Invalid {
			t.Run(file+": "+name, func(t *testing.T) {
				requireProblems(t, test.Problems, validate(lengthen(test.Value.value)))
			})
		}
	}
}

// What is pruned before the library sees it makes no difference.
func TestTheFilesDecideTheSameOnTheWholeValue(t *testing.T) {
	for file, raw := range map[string][]byte{"config.yaml": schema.Config(), "request.yaml": schema.Request()} {
		compiled, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(raw))
		require.NoError(t, err)
		cases := load[shapeCases](t, file)
		for name, valid := range cases.Valid {
			result, err := compiled.Validate(gojsonschema.NewGoLoader(lengthen(valid.value)))
			require.NoError(t, err)
			assert.Empty(t, result.Errors(), name)
		}
		for name, test := range cases.Invalid {
			result, err := compiled.Validate(gojsonschema.NewGoLoader(lengthen(test.Value.value)))
			require.NoError(t, err)
			assert.NotEmpty(t, result.Errors(), name)
		}
	}
}

func TestConfigAndRequestSchemasAreDescribedAndValid(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	meta, err := compiler.Compile("http://json-schema.org/draft-07/schema#")
	require.NoError(t, err)
	for name, raw := range map[string][]byte{"config": schema.Config(), "request": schema.Request()} {
		var document map[string]any
		require.NoError(t, json.Unmarshal(raw, &document))
		assert.Equal(t, "http://json-schema.org/draft-07/schema#", document["$schema"])
		require.NoError(t, meta.Validate(document))
		described(t, document, name)
		examples(t, raw, document, name)
		_, err := schema.Compile(document)
		require.NoError(t, err, "no keyword is misspelt")
	}
	schema.Config()[0] = 'x'
	assert.Equal(t, byte('{'), schema.Config()[0])
}

// examples fails unless every field has examples, each of which is valid.
func examples(t *testing.T, raw []byte, node map[string]any, place string) {
	t.Helper()
	if _, isRef := node["$ref"]; isRef {
		return
	}
	list, _ := node["examples"].([]any)
	assert.NotEmpty(t, list, place)
	alone := map[string]any{"$schema": "http://json-schema.org/draft-07/schema#"}
	var root map[string]any
	require.NoError(t, json.Unmarshal(raw, &root))
	for key, value := range node {
		alone[key] = value
	}
	if definitions, has := root["definitions"]; has {
		alone["definitions"] = definitions
	}
	delete(alone, "$id")
	compiled, err := gojsonschema.NewSchema(gojsonschema.NewGoLoader(alone))
	require.NoError(t, err, place)
	for _, example := range list {
		result, err := compiled.Validate(gojsonschema.NewGoLoader(example))
		require.NoError(t, err)
		assert.Empty(t, result.Errors(), place)
	}
	for _, keyword := range []string{"properties", "definitions"} {
		fields, _ := node[keyword].(map[string]any)
		for name, field := range fields {
			examples(t, raw, field.(map[string]any), place+"."+name)
		}
	}
}

func TestSettleIsWhatGoParses(t *testing.T) {
	for _, settle := range []string{"0", "0s", "1s", "500ms", "1.5s", "5s", "5.0s", "5000ms", "0ms", "4.999s"} {
		require.Nil(t, schema.ValidateConfig(object{"settle": settle, "metadata": []any{}}), settle)
		parsed, err := time.ParseDuration(settle)
		require.NoError(t, err)
		assert.LessOrEqual(t, parsed, 5*time.Second)
	}
}

func TestHostileConfigsAreContained(t *testing.T) {
	deep := nested(100_000, "a", true)
	cyclic := object{}
	cyclic["a"] = cyclic
	item := func(more object) object {
		all := object{"key": "a", "value": 1.0}
		for key, value := range more {
			all[key] = value
		}
		return object{"metadata": []any{all}}
	}
	for name, test := range map[string]struct {
		config any
		says   string
	}{
		"a deep value":                    {item(object{"value": deep}), ""},
		"a value that holds itself":       {item(object{"value": cyclic}), ""},
		"a value of 2^40 leaves":          {item(object{"value": doubled(40)}), ""},
		"a deep schema":                   {item(object{"schema": deep}), ""},
		"a value that is not JSON":        {item(object{"value": math.NaN()}), ""},
		"a deep config":                   {deep, "missing field metadata"},
		"a config that holds itself":      {cyclic, "/a: unknown field a"},
		"a config that is not JSON":       {math.Inf(1), "number where an object is expected"},
		"something else than JSON":        {item(object{"key": []string{"a"}}), "/metadata/0/key: number where a string"},
		"a deep key":                      {item(object{"key": deep}), "/metadata/0/key: object where a string"},
		"a hundred thousand items":        {object{"metadata": repeat(100_000, func(int) any { return object{"key": "a", "value": "b"} })}, "/metadata: has more than 50 items"},
		"a hundred thousand wrong items":  {object{"metadata": repeat(100_000, func(int) any { return "x" })}, "/metadata: has more than 50 items"},
		"a hundred thousand fields":       {item(named(100_000, func(int) any { return deep })), "more problems"},
		"ten megabytes for a name":        {object{"producer": text(10 << 20), "metadata": []any{}}, "/producer: is longer than 111"},
		"ten megabytes in the settle":     {object{"settle": strings.Repeat("9", 10<<20), "metadata": []any{}}, "/settle: has to be 0s to 5s"},
		"names with the separator inside": {object{"metadata": []any{}, "a\x00b": 1.0}, `unknown field "a\x00b"`},
	} {
		t.Run(name, func(t *testing.T) {
			isContained(t, func() {
				problems := schema.ValidateConfig(test.config)
				if test.says == "" {
					assert.Empty(t, problems)
					return
				}
				assert.Contains(t, problems.Error(), test.says)
				assert.LessOrEqual(t, len(problems), schema.MaxProblems+1)
			})
		})
	}
	isContained(t, func() {
		context := named(100_000, func(i int) any { return fmt.Sprint(i) })
		context["project"], context["stage"], context["deep"] = "demo", "test", deep
		assert.Empty(t, schema.ValidateRequest(object{"context": context, "outputs": object{"a": deep, "b": doubled(40)}, "config": deep}))
	})
}
