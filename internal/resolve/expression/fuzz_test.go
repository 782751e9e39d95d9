//go:build unix

package expression_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/resolve/expression"
	"github.com/kargo-steps/publish-metadata/internal/value"
)

// FuzzExpression holds any source to what held says. The hostile sources are seeds
// where there is fuzzing only: without, TestHostileSourcesEndSoonWithLittleMemory
// holds them to the same.
func FuzzExpression(f *testing.F) {
	for _, test := range goldenCases(f) {
		f.Add(test.Expression)
	}
	if flag.Lookup("test.fuzz").Value.String() != "" {
		for _, test := range hostileCases(f) {
			if source := test.source(); len(source) < 500 {
				f.Add(source)
			}
		}
	}
	env := readEnv(f)
	f.Fuzz(func(t *testing.T, source string) { _ = held(t, source, env) })
}

// held requires no panic, an error of this package or a JSON-native result within
// limits, the same twice, in little time and memory. It returns the error.
func held(t testing.TB, source string, env expression.Env) error {
	t.Helper()
	result, err := bounded(t, source, env)
	again, errAgain := evaluate(t, source, env)
	require.Equal(t, err, errAgain)
	require.Equal(t, result, again)
	if err != nil {
		for _, fallback := range []string{"cannot be evaluated", "cannot be applied", "cannot be compiled"} {
			// These texts stand for panics; each case has to have a text of its own.
			require.NotContains(t, strings.ReplaceAll(err.Error(), source, ""), fallback)
		}
		return err
	}
	require.NotNil(t, result)
	_, problems := value.Native(result, "", value.Limits{Nodes: 50_000, Bytes: 1 << 20, Depth: 32})
	require.Empty(t, problems)
	return nil
}
