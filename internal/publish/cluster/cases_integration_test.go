//go:build integration

package cluster_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kargo-steps/publish-metadata/internal/cases"
	"github.com/kargo-steps/publish-metadata/internal/controlplane"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/step"
)

// door is the Go door, on a Stage of the API server.
type door struct {
	project string
	runner  *step.Runner
}

// project is where a request names the project of every case.
var project = regexp.MustCompile(`("?project"?: ?"?)` + cases.Project + `\b`)

func (d door) Run(t testing.TB, document []byte) []byte {
	request, err := step.ParseRequest(project.ReplaceAll(document, []byte("${1}"+d.project)))
	result := step.FailedResult(err)
	if err == nil {
		result, err = d.runner.Run(t.Context(), request)
	}
	require.Equal(t, err == nil, result.Status == step.Succeeded)
	encoded, err := json.Marshal(result)
	require.NoError(t, err)
	return encoded
}

func (d door) Stage(t testing.TB) map[string]any {
	return server.Get(t, controlplane.Stages, d.project, cases.Stage).Object
}

func (d door) Version(t testing.TB) string {
	return server.Get(t, controlplane.Stages, d.project, cases.Stage).GetResourceVersion()
}

func (d door) Write(t testing.TB, write cases.Write) {
	stages := server.Client().Resource(controlplane.Stages).Namespace(d.project)
	var err error
	switch {
	case write.Apply != nil:
		body := cases.ApplyBody(write.Apply)
		body.SetNamespace(d.project)
		_, err = stages.Apply(t.Context(), cases.Stage, body, metav1.ApplyOptions{FieldManager: write.Manager}, "status")
	case write.Update != nil:
		d.merge(t, write.Update, write.Manager, "status")
	case write.ClearManagedFields:
		d.merge(t, map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{}}}}, "cleaner")
	case write.Current == "none":
		d.merge(t, map[string]any{"status": map[string]any{"currentPromotion": nil}}, controlplane.KargoManager, "status")
	default:
		setCurrent(t, d.project, write.Current)
	}
	require.NoError(t, err)
}

func (d door) merge(t testing.TB, patch map[string]any, manager string, subresources ...string) {
	encoded, err := json.Marshal(patch)
	require.NoError(t, err)
	_, err = server.Client().Resource(controlplane.Stages).Namespace(d.project).Patch(t.Context(), cases.Stage,
		types.MergePatchType, encoded, metav1.PatchOptions{FieldManager: manager}, subresources...)
	require.NoError(t, err)
}

func TestCases(t *testing.T) {
	var client publish.Client = newClient(t, server.AdminConfig())
	cases.Play(t, func(t *testing.T, c cases.Case) cases.Door {
		d := door{newStage(t, c.Current), newRunner(t, client, step.WithSettle(0))}
		if c.Metadata != nil {
			d.Write(t, cases.Write{Update: map[string]any{"status": map[string]any{"metadata": c.Metadata}}, Manager: "kargo-controller"})
		}
		return d
	})
}
