//go:build unix

package expression_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/value"
)

// FuzzExpression holds any source to this: no panic, an error of this package or
// a JSON-native result within limits, the same twice, in little time and memory.
func FuzzExpression(f *testing.F) {
	for _, test := range goldenCases(f) {
		f.Add(test.Expression)
	}
	var hostile []hostileCase
	readYAML(f, "hostile.yaml", &hostile)
	seeds := 0
	for _, test := range hostile {
		if source := test.source(); len(source) < 500 {
			f.Add(source)
			seeds++
		}
	}
	require.Greater(f, seeds, 80)
	env := readEnv(f)
	f.Fuzz(func(t *testing.T, source string) {
		result, err := bounded(t, source, env)
		again, errAgain := evaluate(t, source, env)
		require.Equal(t, err, errAgain)
		require.Equal(t, result, again)
		for _, fallback := range []string{"cannot be evaluated", "cannot be applied", "cannot be compiled"} {
			// These texts stand for panics; each case has to have a text of its own.
			if err != nil {
				require.NotContains(t, strings.ReplaceAll(err.Error(), source, ""), fallback)
			}
		}
		if err == nil {
			require.NotNil(t, result)
			_, problems := value.Native(result, "", value.Limits{Nodes: 50_000, Bytes: 1 << 20, Depth: 32})
			require.Empty(t, problems)
		}
	})
}
