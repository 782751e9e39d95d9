//go:build unix

package expression_test

import (
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/contained"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/resolve/expression"
)

const (
	mostTime  = contained.Deadline
	mostBytes = 200 << 20
)

type hostileCase struct {
	Name, Want string
	Parts      []struct {
		Text  string
		Times int
	}
}

func (h hostileCase) source() string {
	var text strings.Builder
	for _, part := range h.Parts {
		text.WriteString(strings.Repeat(part.Text, max(1, part.Times)))
	}
	return text.String()
}

func hostileCases(t testing.TB) []hostileCase {
	t.Helper()
	var cases []hostileCase
	readYAML(t, "hostile.yaml", &cases)
	require.Greater(t, len(cases), 120)
	return cases
}

func TestHostileSourcesEndSoonWithLittleMemory(t *testing.T) {
	env := readEnv(t)
	for _, test := range hostileCases(t) {
		t.Run(test.Name, func(t *testing.T) {
			err := held(t, test.source(), env)
			if test.Want == "ok" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, test.Want)
			require.Less(t, len(err.Error()), 2000)
		})
	}
}

// bounded evaluates within time and memory, and returns what Run does. Time is that
// of the processor, which does not depend on what else the machine does. No
// deadline helps: the budget alone has to end a run.
func bounded(t testing.TB, source string, env expression.Env) (any, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := processorTime(t)
	result, err := evaluate(t, source, env)
	assert.Less(t, processorTime(t)-start, mostTime)
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(mostBytes))
	requireTyped(t, err)
	return result, err
}

func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func requireTyped(t testing.TB, err error) {
	t.Helper()
	var failed *expression.Error
	var missing *expression.Missing
	if err != nil && !errors.As(err, &failed) && !errors.As(err, &missing) {
		require.Fail(t, "an error of another type", "%T: %v", err, err)
	}
}

// Large data is charged as much as data that an expression makes.
func TestHostileDataEndsSoonWithLittleMemory(t *testing.T) {
	list := make([]any, 100_000)
	for i := range list {
		list[i] = map[string]any{"name": "the same", "n": int64(i)}
	}
	env := expression.Env{Outputs: map[string]any{"big": map[string]any{"list": list, "text": strings.Repeat("a,", 4<<20)}}}
	for source, want := range map[string]string{
		"outputs":                     "exceeds the limit",
		"outputs.big.text":            "exceeds the limit of 1048576 bytes",
		"len(outputs.big.list)":       "",
		"outputs.big.list[-1].n":      "",
		"toJSON(outputs)":             "more than 16777216 bytes",
		"split(outputs.big.text, '')": "more than 16777216 bytes",
		"upper(outputs.big.text)":     "more than 16777216 bytes",
		"outputs == outputs":          "more than 16777216 bytes",
		"uniq(outputs.big.list)":      "more than 16777216 bytes",
		"map(outputs.big.list, filter(outputs.big.list, .n > #.n))": "more than",
		"sortBy(outputs.big.list, .name)":                           "more than",
		"groupBy(outputs.big.list, .name)":                          "exceeds the limit of 50000 nodes",
	} {
		t.Run(source, func(t *testing.T) {
			_, err := bounded(t, source, env)
			if want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, want)
			require.ErrorIs(t, err, fault.TooLarge)
		})
	}
}
