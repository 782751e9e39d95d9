//go:build integration

package server_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/kargo-steps/publish-metadata/internal/cases"
	"github.com/kargo-steps/publish-metadata/internal/controlplane"
)

// door is the HTTP door, on a Stage of the API server, with the token of its project.
type door struct {
	*running
	project, token string
}

// inProject is where a request names the project of every case.
var inProject = regexp.MustCompile(`("?project"?: ?"?)` + cases.Project + `\b`)

func (d door) Run(t testing.TB, document []byte) []byte {
	document = inProject.ReplaceAll(document, []byte("${1}"+d.project))
	if document[0] != '{' { // the door takes JSON alone
		converted, err := yaml.YAMLToJSON(document)
		require.NoError(t, err)
		document = converted
	}
	a := d.post(t, d.token, string(document))
	if a.code == 200 {
		return []byte(a.text)
	}
	require.Contains(t, []int{400, 409, 413, 422, 404, 503}, a.code)
	require.NotContains(t, []string{"", "Succeeded"}, a.Outcome)
	encoded, err := json.Marshal(cases.Result{Status: a.Outcome, Message: a.Message, Output: a.Output})
	require.NoError(t, err)
	return encoded
}

func (d door) Stage(t testing.TB) map[string]any {
	return control.Get(t, controlplane.Stages, d.project, cases.Stage).Object
}

func (d door) Version(t testing.TB) string {
	return control.Get(t, controlplane.Stages, d.project, cases.Stage).GetResourceVersion()
}

func (d door) Write(t testing.TB, write cases.Write) {
	switch {
	case write.Apply != nil:
		body := cases.ApplyBody(write.Apply)
		body.SetNamespace(d.project)
		_, err := control.Client().Resource(controlplane.Stages).Namespace(d.project).
			Apply(t.Context(), cases.Stage, body, metav1.ApplyOptions{FieldManager: write.Manager}, "status")
		require.NoError(t, err)
	case write.Update != nil:
		d.merge(t, write.Update, write.Manager, "status")
	case write.ClearManagedFields:
		d.merge(t, map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{}}}}, "cleaner")
	default:
		setCurrent(t, d.project, write.Current)
	}
}

func (d door) merge(t testing.TB, patch map[string]any, manager string, subresources ...string) {
	encoded, err := json.Marshal(patch)
	require.NoError(t, err)
	_, err = control.Client().Resource(controlplane.Stages).Namespace(d.project).Patch(t.Context(), cases.Stage,
		types.MergePatchType, encoded, metav1.PatchOptions{FieldManager: manager}, subresources...)
	require.NoError(t, err)
}

func TestCases(t *testing.T) {
	r := start(t, control.AdminConfig()) // whose credentials it must not use
	cases.Play(t, func(t *testing.T, c cases.Case) cases.Door {
		name, token := project(t, rights...)
		d := door{r, name, token}
		if c.Current != "" {
			setCurrent(t, name, c.Current)
		}
		if c.Metadata != nil {
			d.Write(t, cases.Write{Update: map[string]any{"status": map[string]any{"metadata": c.Metadata}}, Manager: "kargo-controller"})
		}
		return d
	})
}
