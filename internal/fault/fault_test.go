package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/schema"
)

func TestAnErrorSaysSubjectMessageAndProblems(t *testing.T) {
	problems := schema.Problems{{Pointer: "/b", Message: "bad"}, {Pointer: "/a", Message: "worse"}}
	cause := errors.New("quotes a s3cr3t")
	for want, err := range map[string]error{
		"Stage demo/test: it is away":                  fault.New(fault.Unavailable, "Stage demo/test", "it is away", cause),
		"request: /a: worse; /b: bad":                  fault.Of(fault.Invalid, "request", problems),
		"Stage demo/test: refused: /b: bad; /a: worse": &fault.Error{Kind: fault.Conflict, Subject: "Stage demo/test", Message: "refused", Problems: problems},
		"refused": &fault.Error{Message: "refused"},
	} {
		require.EqualError(t, err, want)
	}
	require.NoError(t, fault.Of(fault.Invalid, "request", nil))
	require.Equal(t, "/b", problems[0].Pointer, "the caller's problems stay in their order")
}

func TestTheKindAndTheCauseAreFound(t *testing.T) {
	err := fmt.Errorf("wrapped: %w", fault.New(fault.Timeout, "a", "b", fmt.Errorf("c: %w", context.DeadlineExceeded)))
	require.ErrorIs(t, err, fault.Timeout)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NotErrorIs(t, err, fault.Invalid)
	require.Equal(t, fault.Timeout, fault.KindOf(err))
	require.Equal(t, "Timeout", fault.Timeout.Error())

	outer := fault.New(fault.Invalid, "a", "b", fault.New(fault.Unavailable, "c", "d", nil))
	require.Equal(t, fault.Invalid, fault.KindOf(outer), "the outermost kind decides")
	require.Equal(t, fault.Unavailable, fault.KindOf(errors.New("of nobody")))
	require.Equal(t, fault.Conflict, fault.KindOf(fault.Conflict))
}
