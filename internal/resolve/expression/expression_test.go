package expression_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/expr-lang/expr/builtin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/resolve/expression"
)

func TestOneProgramServesManyGoroutines(t *testing.T) {
	program, err := expression.Compile(`let n = outputs.n.n; map(sortBy(outputs.n.list, .key + 'x', 'desc'), {.key matches ('^k' + 'ey') ? .key + string(n) : nil})`)
	require.NoError(t, err)
	var group sync.WaitGroup
	for i := range 32 {
		group.Go(func() {
			n := string(rune('a' + i%26))
			env := expression.Env{Outputs: map[string]any{"n": map[string]any{"n": n, "list": []any{
				map[string]any{"key": "key1"}, map[string]any{"key": "key2"}, map[string]any{"key": n},
			}}}}
			for range 50 {
				result, err := program.Run(t.Context(), env)
				if assert.NoError(t, err) {
					assert.ElementsMatch(t, []any{"key2" + n, "key1" + n, nil}, result)
				}
			}
		})
	}
	group.Wait()
}

// endsLater is a context that ends when it has been asked a number of times.
type endsLater struct {
	context.Context
	asked atomic.Int64
	at    int64
}

func (c *endsLater) Err() error {
	if c.asked.Add(1) > c.at {
		return context.Canceled
	}
	return nil
}

func TestAnEndedContextEndsTheRun(t *testing.T) {
	slow := `reduce(1..20000, #acc + len([#]), 0)`
	program, err := expression.Compile(slow)
	require.NoError(t, err)
	_, err = program.Run(t.Context(), expression.Env{})
	require.NoError(t, err, "it ends by itself when nothing ends it")

	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := program.Run(ctx, expression.Env{})
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, fault.Timeout)
		require.ErrorContains(t, err, "was cancelled")
	})
	t.Run("in the middle", func(t *testing.T) {
		ctx := &endsLater{Context: t.Context(), at: 100}
		_, err := program.Run(ctx, expression.Env{})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		require.EqualValues(t, 101, ctx.asked.Load(), "it is the first to be told that stops it")
	})
	t.Run("by its deadline", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), -time.Second)
		defer cancel()
		_, err := program.Run(ctx, expression.Env{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "ran out of time")
	})
	t.Run("soon", func(t *testing.T) {
		for source := range strings.SplitSeq(`toJSON(reduce(1..40,[#acc,#acc],[1]))
let s = repeat("a", 1000000); map(1..10, s + s)
map(1..60000, outputs.a ?? #)
let l = map(1..3000, string(#)); map(1..20, sort(l))
repeat('a', 100000) matches '(x+x+)+y|(a?){20}$'`, "\n") {
			program, err := expression.Compile(source)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			var cancelled atomic.Int64
			time.AfterFunc(5*time.Millisecond, func() { cancelled.Store(time.Now().UnixNano()); cancel() })
			_, _ = program.Run(ctx, expression.Env{})
			ended := time.Now().UnixNano()
			if at := cancelled.Load(); at > 0 {
				assert.Less(t, time.Duration(ended-at), time.Second, source)
			}
			cancel()
		}
	})
}

func TestEveryBuiltinNameCanBeAnAlias(t *testing.T) {
	names := append(slices.Clone(builtin.Names), "in", "not", "let", "if", "else", "and", "or", "matches", "contains", "startsWith", "endsWith", "true", "false", "nil", "ctx", "outputs", "task")
	require.Greater(t, len(names), 80)
	for _, name := range names {
		env := expression.Env{Alias: "t::s", Outputs: map[string]any{name: map[string]any{name: "it"}, "t::" + name: "in task"}}
		for source, want := range map[string]string{
			"outputs['" + name + "']." + name:                                        "it",
			"outputs." + name + "['" + name + "']":                                   "it",
			"outputs?." + name + "?." + name:                                         "it",
			"map([outputs], ." + name + "." + name + ")[0]":                          "it",
			"task.outputs." + name:                                                   "in task",
			"let o = outputs; {'" + name + "': o." + name + "}." + name + "." + name: "it",
		} {
			result, err := evaluate(t, source, env)
			require.NoError(t, err, source)
			require.Equal(t, want, result, source)
		}
	}
}

func TestErrorsNameTheAliasesThatExist(t *testing.T) {
	env := expression.Env{Outputs: map[string]any{"open-pr": map[string]any{}, "build": map[string]any{}}}
	_, err := evaluate(t, "outputs.bulid.url", env)
	var missing *expression.Missing
	require.ErrorAs(t, err, &missing)
	require.Equal(t, []string{"build", "open-pr"}, missing.Available)
	require.EqualError(t, err, "expression `outputs.bulid.url` at 1:15: outputs.bulid is missing (null); "+
		"no step has an output under this alias; it may have been skipped, or not have run yet; did you mean outputs.build? Steps with an output: build, open-pr")

	_, err = evaluate(t, "outputs.build.url", expression.Env{})
	require.ErrorContains(t, err, "no step has an output")

	many := map[string]any{}
	for i := range 100 {
		many["step-"+strings.Repeat("x", i)] = nil
	}
	_, err = evaluate(t, "outputs.build.url", expression.Env{Outputs: many})
	require.ErrorContains(t, err, "and 80 more")

	_, err = evaluate(t, "task.outputs.build", env)
	require.ErrorContains(t, err, "task is missing (null); the step's alias is not within a task")
}

func TestErrorsShowTheLineAtFault(t *testing.T) {
	_, err := evaluate(t, "let a = 1;\n  a + 'b' // ü\n", expression.Env{})
	var failed *expression.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, 2, failed.Line)
	require.Equal(t, 5, failed.Column)
	require.ErrorContains(t, err, "expression `a + 'b' // ü` at 2:5: +: takes")

	_, err = evaluate(t, strings.Repeat("1 + ", 200)+"'ü' + "+strings.Repeat("1 + ", 200)+"1", expression.Env{})
	require.ErrorContains(t, err, "`…")
	require.ErrorContains(t, err, "…`")
	require.Less(t, len(err.Error()), 500)

	_, err = evaluate(t, "if true {\n nil } else { 2 }", expression.Env{})
	require.ErrorContains(t, err, "if true { nil } else { 2 } is missing")

	_, err = expression.Compile("'\xff'")
	require.ErrorContains(t, err, "not valid UTF-8")
}

func TestFunctionsAreDocumentedAndCallable(t *testing.T) {
	functions := expression.Functions()
	require.Greater(t, len(functions), 60)
	require.True(t, slices.IsSortedFunc(functions, func(a, b expression.Function) int { return strings.Compare(a.Name, b.Name) }))
	for _, f := range functions {
		require.True(t, strings.HasPrefix(f.Signature, f.Name+"("), f.Signature)
		require.True(t, strings.HasSuffix(f.Doc, "."), f.Doc)
		// Called without arguments it is known, but refused.
		_, err := expression.Compile(f.Name + "()")
		require.Error(t, err, f.Name)
		require.NotContains(t, err.Error(), "unknown name", f.Name)
		require.NotContains(t, err.Error(), "not available", f.Name)
	}
	for _, name := range builtin.Names {
		known := slices.ContainsFunc(functions, func(f expression.Function) bool { return f.Name == name })
		_, err := expression.Compile(name + "(1)")
		assert.Equal(t, !known, err != nil && strings.Contains(err.Error(), "is not available"), name)
	}
}

// Data that is not JSON-native is a mistake of the caller; it must not crash.
func TestAPanicBecomesAnError(t *testing.T) {
	env := expression.Env{Outputs: map[string]any{"list": []string{"secret"}}}
	_, err := evaluate(t, "uniq([outputs.list])", env)
	requireTyped(t, err)
	require.ErrorContains(t, err, "uniq: cannot be applied to these values")
	_, err = evaluate(t, "outputs.list[0]", env)
	require.ErrorContains(t, err, "outputs.list is an unknown value")

	program, err := expression.Compile("1")
	require.NoError(t, err)
	var none context.Context
	_, err = program.Run(none, env)
	requireTyped(t, err)
	require.ErrorContains(t, err, "cannot be evaluated")
}

func TestTheDataIsOnlyRead(t *testing.T) {
	env, untouched := readEnv(t), readEnv(t)
	for _, test := range goldenCases(t) {
		_, _ = evaluate(t, test.Expression, env)
	}
	require.Equal(t, untouched, env)
}
