//go:build integration

package server_test

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
)

var control *controlplane.Server

func TestMain(m *testing.M) {
	controlplane.Main(m, func(s *controlplane.Server) { control = s })
}

// rights are what a publication to Stages needs.
var rights = []rbacv1.PolicyRule{
	{APIGroups: []string{"kargo.akuity.io"}, Resources: []string{"stages"}, Verbs: []string{"get"}},
	{APIGroups: []string{"kargo.akuity.io"}, Resources: []string{"stages/status"}, Verbs: []string{"patch"}},
}

// project makes a project with the Stage "test" and a service account with rules,
// and returns its name and a token.
func project(t testing.TB, rules ...rbacv1.PolicyRule) (name, token string) {
	t.Helper()
	name = control.Namespace(t)
	control.CreateStage(t, name, "test")
	config, user := control.ServiceAccountConfig(t, name, "publisher")
	if len(rules) > 0 {
		control.Grant(t, name, user, rules...)
	}
	return name, config.BearerToken
}

func metadataOf(t testing.TB, project string) map[string]any {
	t.Helper()
	stage := control.Get(t, controlplane.Stages, project, "test")
	status, _ := stage.Object["status"].(map[string]any)
	metadata, _ := status["metadata"].(map[string]any)
	return metadata
}
