//go:build integration

package cluster_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kargo-steps/publish-metadata/step"
)

func TestRightsThatAPublicationNeeds(t *testing.T) {
	get := rbacv1.PolicyRule{APIGroups: []string{"kargo.akuity.io"}, Resources: []string{"stages"}, Verbs: []string{"get"}}
	patch := rbacv1.PolicyRule{APIGroups: []string{"kargo.akuity.io"}, Resources: []string{"stages/status"}, Verbs: []string{"patch"}}
	tests := map[string]struct {
		rules   []rbacv1.PolicyRule
		message string
	}{
		"without rights, the message names verb, resource and namespace": {message: "the caller may not get stages in namespace "},
		"with get alone, it names the patch":                             {[]rbacv1.PolicyRule{get}, "the caller may not patch stages/status in namespace "},
		"get and patch are all that is needed":                           {[]rbacv1.PolicyRule{get, patch}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			project := newStage(t, "test.01")
			config, user := server.ServiceAccountConfig(t, project, "promoter")
			if len(test.rules) > 0 {
				server.Grant(t, project, user, test.rules...)
			}
			result, err := newRunner(t, newClient(t, config), step.WithSettle(0)).
				Run(t.Context(), request(project, "test.01", "publish", map[string]any{"a": link("https://a.example.com")}))
			if test.message == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, step.Forbidden)
			require.Contains(t, result.Message, test.message+project)
			require.Empty(t, metadataOf(t, project))
		})
	}
}

func TestWhoIsNotKnownIsToldSo(t *testing.T) {
	project := newStage(t, "")
	config := server.AnonymousConfig()
	config.BearerToken = "expired"
	_, err := newRunner(t, newClient(t, config)).Run(t.Context(), request(project, "", "publish", nil))
	require.ErrorIs(t, err, step.Unauthenticated)
	require.NotContains(t, err.Error(), "expired")
}

func TestATargetThatDoesNotExistIsNotCreated(t *testing.T) {
	project := server.Namespace(t)
	_, err := newRunner(t, newClient(t, server.AdminConfig())).
		Run(t.Context(), request(project, "", "publish", map[string]any{"a": link("https://a.example.com")}))
	require.ErrorIs(t, err, step.NotFound)
	require.ErrorContains(t, err, "Stage "+project+"/test: it does not exist")
}
