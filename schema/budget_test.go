package schema_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/schema"
)

func TestABudgetBoundsSchemasTogether(t *testing.T) {
	for want, document := range map[string]object{
		"the schemas of a request have more than 20000 parts": {"enum": wholes(9_000)},
		"or 262144 bytes of text together":                    {"description": string(make([]byte, 60<<10))},
		"too large together: over 40000 steps":                {"pattern": "[ab]{1000}"},
	} {
		budget := schema.NewBudget()
		compiled := 0
		var err error
		for err == nil && compiled < 100 {
			document["title"] = fmt.Sprint(compiled)
			if _, err = budget.Compile(document); err == nil {
				compiled++
			}
		}
		require.Greater(t, compiled, 1, want)
		require.Less(t, compiled, 50, want)
		require.ErrorContains(t, err, want)
		_, err = schema.NewBudget().Compile(document)
		require.NoError(t, err, "another request has a budget of its own")
	}
}

func wholes(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = int64(i)
	}
	return list
}

func TestABudgetBoundsValidationsTogether(t *testing.T) {
	budget := schema.NewBudget()
	s, err := budget.Compile(object{"items": object{"enum": wholes(100)}})
	require.NoError(t, err)
	list := make([]any, 1_000)
	for i := range list {
		list[i] = int64(1)
	}
	valid := 0
	for range 20 {
		problems := budget.Validate(t.Context(), s, list)
		if len(problems) == 0 {
			valid++
			continue
		}
		require.Equal(t, "is too costly to validate beside the other values of the request; make the value smaller or its schema simpler", problems.Error())
	}
	require.Greater(t, valid, 2)
	require.Less(t, valid, 10)
	require.Empty(t, s.Validate(list), "a schema is used by others, too")
}

func TestAValidationEndsWithItsContext(t *testing.T) {
	s, err := schema.Compile(object{"items": object{"enum": wholes(100)}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NotEmpty(t, schema.NewBudget().Validate(ctx, s, wholes(1_000)))
	require.NotContains(t, schema.NewBudget().Validate(ctx, s, wholes(1_000)).Error(), "none of the values")
}
