package schema_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/schema"
)

// Each canary is of another kind, so that it fails, or passes, other checks.
var canaries = []any{
	"CANARY-7f3a", "https://user:CANARY-7f3a@example.com", "javascript:CANARY-7f3a", "CANARY-7f3a\n", "", int64(730173017301), 7301730173.5,
}

func requireNoCanary(t *testing.T, problems schema.Problems, where string) {
	t.Helper()
	all, err := json.Marshal(problems)
	require.NoError(t, err)
	for _, secret := range []string{"CANARY", "7f3a", "73017301", "7.30173"} {
		require.NotContains(t, string(all)+problems.Error(), secret, where)
	}
}

// planted calls with the tree once for each scalar in it, that scalar replaced.
func planted(root any, canary any, with func(place string)) {
	var walk func(node any, place string)
	visit := func(child any, place string, set func(any)) {
		switch child.(type) {
		case map[string]any, []any:
			walk(child, place)
		default:
			set(canary)
			with(place)
			set(child)
		}
	}
	walk = func(node any, place string) {
		switch node := node.(type) {
		case map[string]any:
			for key, child := range node {
				visit(child, place+"/"+key, func(v any) { node[key] = v })
			}
		case []any:
			for i, child := range node {
				visit(child, fmt.Sprintf("%s/%d", place, i), func(v any) { node[i] = v })
			}
		}
	}
	walk(root, "")
}

func TestNoValueIsInAProblem(t *testing.T) {
	type cases struct {
		Valid   map[string]tree           `yaml:"valid"`
		Invalid map[string]map[string]any `yaml:"invalid"`
	}
	count := 0
	for _, canary := range canaries {
		for _, key := range wellKnownKeys {
			compiled := lookup(t, key)
			for name, test := range load[cases](t, "wellknown", key+".yaml").Valid {
				planted(test.value, canary, func(place string) {
					count++
					requireNoCanary(t, compiled.Validate(test.value), key+": "+name+place)
				})
			}
		}
		for file, validate := range map[string]func(any) schema.Problems{
			"config.yaml": schema.ValidateConfig, "request.yaml": schema.ValidateRequest,
		} {
			for name, test := range load[cases](t, file).Valid {
				planted(test.value, canary, func(place string) {
					count++
					requireNoCanary(t, validate(test.value), file+": "+name+place)
				})
			}
		}
	}
	assert.Greater(t, count, 500)
}

// A schema may come from a config, so its scalars are values as well; only the
// names of fields that it requires are names.
func TestNoScalarOfASchemaIsInAProblem(t *testing.T) {
	type accepted struct {
		Schema  tree             `yaml:"schema"`
		Valid   []tree           `yaml:"valid"`
		Invalid []map[string]any `yaml:"invalid"`
	}
	values := []any{nil, true, int64(1), 1.5, "x", []any{}, []any{int64(1), "x", "x"}, object{}, object{"a": int64(1), "e": int64(1), "requierd": "x"}}
	isName := func(place string) bool {
		return slices.ContainsFunc([]string{"/required/", "/dependentRequired/", "/dependencies/"}, func(keyword string) bool {
			return strings.Contains(place, keyword)
		})
	}
	count := 0
	for name, test := range load[map[string]accepted](t, "schemas-accepted.yaml") {
		for _, canary := range []any{"CANARY-7f3a", "(CANARY-7f3a", "#CANARY-7f3a", "http://CANARY-7f3a.example/%zz"} {
			planted(test.Schema.value, canary, func(place string) {
				if isName(place) {
					return
				}
				count++
				compiled, err := schema.Compile(test.Schema.value)
				if err != nil {
					var problems schema.Problems
					require.ErrorAs(t, err, &problems)
					requireNoCanary(t, problems, name+place)
					return
				}
				for _, value := range append(values, treeValues(test.Valid)...) {
					requireNoCanary(t, compiled.Validate(value), name+place)
				}
			})
		}
	}
	assert.Greater(t, count, 200)
}

func treeValues(trees []tree) []any {
	values := make([]any, len(trees))
	for i, t := range trees {
		values[i] = t.value
	}
	return values
}
