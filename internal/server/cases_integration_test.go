//go:build integration

package server_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/cases"
	"github.com/kargo-steps/publish-metadata/internal/controlplane"
	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/value"
)

// door is the HTTP door, on a Stage of the API server, with the token of its project.
type door struct {
	controlplane.CaseStage
	*running
	token string
}

func (d door) Run(t testing.TB, request []byte) []byte {
	request = d.Move(request)
	if request[0] != '{' { // the door takes JSON alone
		tree, err := document.Parse(request)
		require.NoError(t, err)
		request, err = value.Marshal(tree)
		require.NoError(t, err)
	}
	a := d.post(t, d.token, string(request))
	if a.code == 200 {
		return []byte(a.text)
	}
	require.Contains(t, []int{400, 409, 413, 422, 404, 503}, a.code)
	require.NotContains(t, []string{"", "Succeeded"}, a.Outcome)
	encoded, err := json.Marshal(cases.Result{Status: a.Outcome, Message: a.Message, Output: a.Output})
	require.NoError(t, err)
	return encoded
}

func TestCases(t *testing.T) {
	r := start(t, control.AdminConfig()) // whose credentials it must not use
	cases.Play(t, func(t *testing.T, c cases.Case) cases.Door {
		name, token := project(t, rights...)
		return door{control.CaseStage(t, name, c), r, token}
	})
}
