package controlplane

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kargo-steps/publish-metadata/internal/cases"
)

// CaseStage is the half of a cases.Door whose Stage is on the API server.
type CaseStage struct {
	server *Server
	// Project is the Stage's namespace, which is not that of the cases.
	Project string
}

// CaseStage returns the Stage that a case starts with; it is in the project already.
func (s *Server) CaseStage(t testing.TB, project string, c cases.Case) CaseStage {
	t.Helper()
	stage := CaseStage{s, project}
	if c.Current != "" {
		stage.Write(t, cases.Write{Current: c.Current})
	}
	if c.Metadata != nil {
		stage.Write(t, cases.Write{Update: map[string]any{"status": map[string]any{"metadata": c.Metadata}}, Manager: "kargo-controller"})
	}
	return stage
}

// inProject is where a request names the project of every case.
var inProject = regexp.MustCompile(`("?project"?: ?"?)` + cases.Project + `\b`)

// Move returns a case's request with the Stage's own project.
func (s CaseStage) Move(document []byte) []byte {
	return inProject.ReplaceAll(document, []byte("${1}"+s.Project))
}

// Stage returns the Stage as it is stored.
func (s CaseStage) Stage(t testing.TB) map[string]any {
	t.Helper()
	return s.server.Get(t, Stages, s.Project, cases.Stage).Object
}

// Version returns the Stage's resourceVersion.
func (s CaseStage) Version(t testing.TB) string {
	t.Helper()
	return s.server.Get(t, Stages, s.Project, cases.Stage).GetResourceVersion()
}

// Write does what somebody else does.
func (s CaseStage) Write(t testing.TB, write cases.Write) {
	t.Helper()
	switch {
	case write.Apply != nil:
		body := cases.ApplyBody(write.Apply)
		body.SetNamespace(s.Project)
		_, err := s.server.Client().Resource(Stages).Namespace(s.Project).
			Apply(t.Context(), cases.Stage, body, metav1.ApplyOptions{FieldManager: write.Manager}, "status")
		require.NoError(t, err)
	case write.Update != nil:
		s.merge(t, write.Update, write.Manager, "status")
	case write.ClearManagedFields:
		s.merge(t, map[string]any{"metadata": map[string]any{"managedFields": []any{map[string]any{}}}}, "cleaner")
	case write.Current == "none":
		s.server.SetStatus(t, Stages, s.Project, cases.Stage, map[string]any{"currentPromotion": nil})
	default:
		s.server.SetStatus(t, Stages, s.Project, cases.Stage, map[string]any{"currentPromotion": map[string]any{"name": write.Current}})
	}
}

func (s CaseStage) merge(t testing.TB, patch map[string]any, manager string, subresources ...string) {
	t.Helper()
	encoded, err := json.Marshal(patch)
	require.NoError(t, err)
	_, err = s.server.Client().Resource(Stages).Namespace(s.Project).Patch(t.Context(), cases.Stage,
		types.MergePatchType, encoded, metav1.PatchOptions{FieldManager: manager}, subresources...)
	require.NoError(t, err)
}
