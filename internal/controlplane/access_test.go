//go:build integration

package controlplane_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
)

var readStages = rbacv1.PolicyRule{
	APIGroups: []string{"kargo.akuity.io"}, Resources: []string{"stages"}, Verbs: []string{"get"},
}

// getStage reads the Stage dev with the rights of cfg.
func getStage(t *testing.T, cfg *rest.Config, namespace string) error {
	t.Helper()
	_, err := controlplane.ClientFor(t, cfg).Resource(controlplane.Stages).Namespace(namespace).
		Get(t.Context(), "dev", metav1.GetOptions{})
	return err
}

func TestRightsComeFromGrantsAlone(t *testing.T) {
	namespace, other := server.Namespace(t), server.Namespace(t)
	server.CreateStage(t, namespace, "dev")
	server.CreateStage(t, other, "dev")
	account, accountName := server.ServiceAccountConfig(t, namespace, "publisher")
	for name, user := range map[string]struct {
		cfg  *rest.Config
		name string
	}{
		"a user by certificate":      {server.UserConfig(t, "jane"), "jane"},
		"a service account by token": {account, accountName},
	} {
		t.Run(name, func(t *testing.T) {
			err := getStage(t, user.cfg, namespace)
			require.True(t, apierrors.IsForbidden(err), "%v", err)
			require.ErrorContains(t, err, user.name)
			server.Grant(t, namespace, user.name, readStages)
			require.NoError(t, getStage(t, user.cfg, namespace))
			err = getStage(t, user.cfg, other)
			assert.True(t, apierrors.IsForbidden(err), "%v", err)
		})
	}
}

func TestAGrantMayNameASubresourceAndOneObject(t *testing.T) {
	namespace := server.Namespace(t)
	server.CreateStage(t, namespace, "dev")
	server.CreateStage(t, namespace, "prod")
	server.Grant(t, namespace, "joe", rbacv1.PolicyRule{
		APIGroups: []string{"kargo.akuity.io"}, Resources: []string{"stages/status"},
		Verbs: []string{"get"}, ResourceNames: []string{"dev"},
	})
	stages := controlplane.ClientFor(t, server.UserConfig(t, "joe")).Resource(controlplane.Stages).Namespace(namespace)
	_, err := stages.Get(t.Context(), "dev", metav1.GetOptions{}, "status")
	require.NoError(t, err)
	_, err = stages.Get(t.Context(), "dev", metav1.GetOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	_, err = stages.Get(t.Context(), "prod", metav1.GetOptions{}, "status")
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
}

func TestAGroupMayCarryTheRights(t *testing.T) {
	namespace := server.Namespace(t)
	server.CreateStage(t, namespace, "dev")
	assert.NoError(t, getStage(t, server.UserConfig(t, "root", "system:masters"), namespace))
}

func TestWrongCredentialsAreRefused(t *testing.T) {
	namespace := server.Namespace(t)
	wrong := server.AnonymousConfig()
	wrong.BearerToken = "wrong"
	err := getStage(t, wrong, namespace)
	assert.True(t, apierrors.IsUnauthorized(err), "%v", err)
	err = getStage(t, server.AnonymousConfig(), namespace)
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.ErrorContains(t, err, "system:anonymous")
}

func TestTheServerIsVerified(t *testing.T) {
	cfg := server.AdminConfig()
	assert.False(t, cfg.Insecure)
	cfg.CAData = nil
	err := getStage(t, cfg, "default")
	require.ErrorContains(t, err, "certificate", "without the Server's authority")
	cfg = server.AdminConfig()
	cfg.ServerName = "elsewhere.example.com"
	err = getStage(t, cfg, "default")
	assert.ErrorContains(t, err, "certificate", "under another name")
}

func TestAKubeconfigHoldsTheSameCredentials(t *testing.T) {
	namespace := server.Namespace(t)
	server.CreateStage(t, namespace, "dev")
	account, name := server.ServiceAccountConfig(t, namespace, "publisher")
	server.Grant(t, namespace, name, readStages)
	for name, cfg := range map[string]*rest.Config{"certificate": server.AdminConfig(), "token": account} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kubeconfig")
			require.NoError(t, controlplane.WriteKubeconfig(path, namespace, cfg))
			loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
				&clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, nil)
			read, err := loaded.ClientConfig()
			require.NoError(t, err)
			assert.NoError(t, getStage(t, read, namespace))
			standard, _, err := loaded.Namespace()
			require.NoError(t, err)
			assert.Equal(t, namespace, standard)
		})
	}
	assert.Error(t, controlplane.WriteKubeconfig(filepath.Join("/dev/null", "kubeconfig"), "", account))
}
