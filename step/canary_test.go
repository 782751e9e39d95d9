package step_test

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kargo-steps/publish-metadata/step"
)

// canaries stand for a credential, as a string, inside a URL, and as a number.
var canaries = []any{
	"s3cr3t-canary", "https://user:s3cr3t-canary@a.example.com/%zz", "https://a.example.com/?token=s3cr3t-canary",
	"s3cr3t-canary-" + strings.Repeat("x", 40_000), 918273645, 918273645.25,
}

// shown are the places whose scalars are names, or sources of their author, which
// may be shown: also the fields that name the entries of a list, and the limits
// and field names of a schema.
var shown = []string{
	"context.project", "context.stage", "context.promotion", "context.meta.step.alias",
	"config.producer", "config.target.name", "config.metadata.*.key", "config.metadata.*.fromExpression",
	"config.metadata.*.fromStep.as",
	"config.metadata.*.value.*.name", "config.metadata.*.value.*.namespace", "config.metadata.*.value.*.id",
	"config.metadata.*.value.*.key", "config.metadata.*.value.*.system",
	"outputs.sync.apps.*.name", "outputs.deploy.metadata.tickets.*.key", "outputs.deploy.metadata.tickets.*.system",
	"config.metadata.*.schema.additionalProperties.required.*",
	"config.metadata.*.schema.additionalProperties.properties.opens.minLength",
	"config.metadata.*.schema.additionalProperties.oneOf.*.minimum", "config.metadata.*.schema.maxProperties",
}

func TestNoScalarOfTheRequestIsTold(t *testing.T) {
	var bases []struct {
		Name            string
		Status          step.Outcome
		Outputs, Config map[string]any
	}
	source, err := os.ReadFile("testdata/canary.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(source, &bases))
	require.GreaterOrEqual(t, len(bases), 15)

	var logs bytes.Buffer
	former := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { slog.SetDefault(former) })
	outcomes := make(map[step.Outcome]int)
	for _, base := range bases {
		t.Run(base.Name, func(t *testing.T) {
			tree := map[string]any{"outputs": base.Outputs, "config": base.Config, "context": canaryContext()}
			result, _ := runCanary(t, tree)
			require.Equal(t, base.Status, result.Status, result.Message)
			places := scalars(tree, nil)
			require.NotEmpty(t, places)
			for _, place := range places {
				if slices.Contains(shown, general(place)) {
					continue
				}
				for _, canary := range canaries {
					result, err := runCanary(t, planted(tree, place, canary).(map[string]any))
					outcomes[result.Status]++
					told := result.Message + textsOf(err) + logs.String()
					if warnings, _ := yaml.Marshal(result.Output["warnings"]); len(warnings) > 0 {
						told += string(warnings)
					}
					for _, secret := range []string{"s3cr3t", "canary", "918273645"} {
						assert.NotContains(t, told, secret, "%v at %v", canary, place)
					}
				}
			}
		})
	}
	require.Greater(t, outcomes[step.Succeeded], 50)
	require.Greater(t, outcomes[step.Failed], 500)
}

func canaryContext() map[string]any {
	return map[string]any{
		"project": "demo", "stage": "test", "promotion": "test.01", "uiBaseUrl": "https://kargo.example.com", "secret": "x",
		"targetFreight": map[string]any{"name": "abc", "origin": map[string]any{"name": "web"}, "n": 1},
		"meta": map[string]any{
			"step": map[string]any{"alias": "publish", "kind": "x"}, "promotion": map[string]any{"actor": "admin", "rollback": true},
		},
	}
}

func runCanary(t testing.TB, tree map[string]any) (step.Result, error) {
	_, runner := newManifest(t)
	return runner.Run(t.Context(), step.Request{Context: tree["context"], Outputs: tree["outputs"], Config: tree["config"]})
}

// textsOf returns the text of an error and of its problems.
func textsOf(err error) string {
	var failure *step.Error
	if !errors.As(err, &failure) {
		return ""
	}
	text := err.Error()
	for _, problem := range failure.Problems {
		text += problem.Pointer + problem.Message
	}
	return text
}

// scalars returns the paths of everything in a tree that is no list and no object.
func scalars(v any, at []string) [][]string {
	var places [][]string
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			places = append(places, scalars(v[name], append(slices.Clone(at), name))...)
		}
	case []any:
		for i, element := range v {
			places = append(places, scalars(element, append(slices.Clone(at), strconv.Itoa(i)))...)
		}
	default:
		places = append(places, at)
	}
	return places
}

// planted returns a copy of a tree with another value at a path.
func planted(v any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	switch v := v.(type) {
	case map[string]any:
		copied := maps.Clone(v)
		copied[path[0]] = planted(v[path[0]], path[1:], value)
		return copied
	case []any:
		copied := slices.Clone(v)
		i, _ := strconv.Atoi(path[0])
		copied[i] = planted(v[i], path[1:], value)
		return copied
	}
	return v
}

// general returns a path with * for every index.
func general(path []string) string {
	path = slices.Clone(path)
	for i, name := range path {
		if _, err := strconv.Atoi(name); err == nil {
			path[i] = "*"
		}
	}
	return strings.Join(path, ".")
}
