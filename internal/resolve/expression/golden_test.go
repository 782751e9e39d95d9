package expression_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/expr-lang/expr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/resolve/expression"
	"github.com/kargo-steps/publish-metadata/internal/value"
)

type goldenCase struct {
	Name       string
	Expression string
	// Want is the result as JSON.
	Want string
	// Missing is the place and the part; Hint is its hint.
	Missing, Hint string
	// Error is the place and the message.
	Error string
	// Differs says why expr itself gives something else for the same expression, be it
	// only now and then ("random order").
	Differs string
}

func readYAML(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(data, into))
}

// readEnv returns the data of env.yaml.
func readEnv(t testing.TB) expression.Env {
	t.Helper()
	var raw struct {
		Alias            string
		Context, Outputs map[string]any
	}
	readYAML(t, "env.yaml", &raw)
	return expression.Env{Alias: raw.Alias, Context: object(t, raw.Context), Outputs: object(t, raw.Outputs)}
}

func object(t testing.TB, v any) map[string]any {
	t.Helper()
	native, problems := value.Native(v, "", value.Limits{})
	require.Empty(t, problems)
	return native.(map[string]any)
}

func goldenCases(t testing.TB) []goldenCase {
	var cases []goldenCase
	readYAML(t, "golden.yaml", &cases)
	return cases
}

// evaluate compiles and runs a source.
func evaluate(t testing.TB, source string, env expression.Env) (any, error) {
	t.Helper()
	program, err := expression.Compile(source)
	if err != nil {
		return nil, err
	}
	return program.Run(t.Context(), env)
}

func TestGolden(t *testing.T) {
	cases := goldenCases(t)
	require.Greater(t, len(cases), 200)
	env := readEnv(t)
	for _, test := range cases {
		t.Run(test.Name, func(t *testing.T) {
			first := outcome(t, test, env)
			assert.Equal(t, first, outcome(t, test, env), "two runs give the same bytes")
		})
	}
}

// outcome checks a case and returns its bytes.
func outcome(t *testing.T, test goldenCase, env expression.Env) string {
	t.Helper()
	result, err := evaluate(t, test.Expression, env)
	var missing *expression.Missing
	var failed *expression.Error
	switch {
	case errors.As(err, &missing):
		require.ErrorIs(t, err, fault.Invalid)
		require.Equal(t, test.Missing, fmt.Sprintf("%d:%d %s", missing.Line, missing.Column, missing.Part))
		require.Equal(t, test.Hint, missing.Hint)
		require.Contains(t, err.Error(), missing.Part+" is missing (null)")
	case err != nil:
		require.ErrorAs(t, err, &failed)
		require.NotEmpty(t, test.Error, err.Error())
		require.Equal(t, test.Expression, failed.Expression)
		require.Contains(t, err.Error(), " at "+test.Error)
	default:
		text, marshalErr := value.Marshal(result)
		require.NoError(t, marshalErr)
		require.Equal(t, test.Want, string(text))
		return string(text)
	}
	return err.Error()
}

// The rewriting must not change what an expression means: what is not marked in
// the table as different has the result that expr itself gives.
func TestGoldenResultsAreThoseOfExpr(t *testing.T) {
	env := readEnv(t)
	task := map[string]any{}
	for alias, output := range env.Outputs {
		if name, ok := strings.CutPrefix(alias, "ship::"); ok {
			task[name] = output
		}
	}
	plain := map[string]any{"ctx": env.Context, "outputs": env.Outputs, "task": map[string]any{"outputs": task}}
	for _, test := range goldenCases(t) {
		if test.Want == "" {
			assert.Empty(t, test.Differs, "%s: only a result can differ", test.Name)
			continue
		}
		if test.Differs == "random order" {
			continue
		}
		t.Run(test.Name, func(t *testing.T) {
			assert.Equal(t, test.Differs == "", test.Want == plainResult(test.Expression, plain), "expr gives %s", plainResult(test.Expression, plain))
		})
	}
}

func plainResult(source string, env map[string]any) string {
	raw, err := expr.Eval(source, env)
	if err != nil {
		return err.Error()
	}
	native, problems := value.Native(raw, "", value.Limits{})
	if len(problems) > 0 {
		return problems.Error()
	}
	text, err := value.Marshal(native)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
