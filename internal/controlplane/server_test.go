//go:build integration

package controlplane_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
)

var crds = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

func TestKargoResourcesAreEstablished(t *testing.T) {
	list, err := server.Client().Resource(crds).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	established := map[string]bool{}
	for _, crd := range list.Items {
		conditions, _, err := unstructured.NestedSlice(crd.Object, "status", "conditions")
		require.NoError(t, err)
		for _, condition := range conditions {
			fields := condition.(map[string]any)
			if fields["type"] == "Established" {
				established[crd.GetName()] = fields["status"] == "True"
			}
		}
	}
	want := map[string]bool{}
	for _, plural := range []string{
		"clusterconfigs", "clusterpromotiontasks", "freights", "projectconfigs", "projects",
		"promotions", "promotiontasks", "stages", "warehouses",
	} {
		want[plural+".kargo.akuity.io"] = true
	}
	assert.Equal(t, want, established)
}

func TestServersAreIndependent(t *testing.T) {
	servers := make([]*controlplane.Server, 2)
	errs := make([]error, len(servers))
	var group sync.WaitGroup
	for i := range servers {
		group.Go(func() { servers[i], errs[i] = controlplane.Start(t.Context()) })
	}
	group.Wait()
	for i, s := range servers {
		require.NoError(t, errs[i])
		t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	}
	namespace := servers[0].Namespace(t)
	servers[0].CreateStage(t, namespace, "dev")
	_, err := servers[1].Client().Resource(controlplane.Stages).Namespace(namespace).
		Get(t.Context(), "dev", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	// A user of one is a stranger to the other.
	stranger := servers[0].AdminConfig()
	stranger.Host = servers[1].AdminConfig().Host
	_, err = controlplane.ClientFor(t, stranger).Resource(controlplane.Stages).List(t.Context(), metav1.ListOptions{})
	assert.ErrorContains(t, err, "certificate")
}

func TestStopLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s, err := controlplane.Start(t.Context())
	require.NoError(t, err)
	host := s.AdminConfig().Host
	assert.Equal(t, 4, processesIn(t, temp), "two processes and their supervisors")
	require.NoError(t, s.Stop())
	assert.Zero(t, processesIn(t, temp))
	assert.Empty(t, entries(t, temp))
	require.Error(t, dial(host))
	assert.NoError(t, s.Stop(), "a second Stop")
}

func TestStartThatIsCancelledLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := controlplane.Start(ctx)
		result <- err
	}()
	require.Eventually(t, func() bool {
		logs, err := filepath.Glob(filepath.Join(temp, "*", "kube-apiserver.log"))
		return err == nil && len(logs) == 1
	}, patience, tick)
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
	assert.Zero(t, processesIn(t, temp))
	assert.Empty(t, entries(t, temp))
}

func TestMissingBinariesAreAnErrorThatSaysWhatToDo(t *testing.T) {
	t.Run("in the cache", func(t *testing.T) {
		t.Setenv("KUBEBUILDER_ASSETS", "")
		root := t.TempDir()
		mod := []byte("module github.com/kargo-steps/publish-metadata\n")
		require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), mod, 0o600))
		t.Chdir(root)
		_, err := controlplane.Start(t.Context())
		require.ErrorContains(t, err, "no etcd: run `make controlplane`")
		assert.ErrorIs(t, err, os.ErrNotExist)
	})
	t.Run("in KUBEBUILDER_ASSETS", func(t *testing.T) {
		t.Setenv("KUBEBUILDER_ASSETS", t.TempDir())
		_, err := controlplane.Start(t.Context())
		assert.ErrorContains(t, err, "no etcd: KUBEBUILDER_ASSETS must name a folder with etcd and kube-apiserver")
	})
	t.Run("outside the repository", func(t *testing.T) {
		t.Setenv("KUBEBUILDER_ASSETS", "")
		t.Chdir(t.TempDir())
		_, err := controlplane.Start(t.Context())
		assert.ErrorContains(t, err, "run the tests inside the repository")
	})
}

func TestAProgramThatDoesNotStartShowsTheEndOfItsLog(t *testing.T) {
	assets, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	for _, name := range []string{"etcd", "kube-apiserver"} {
		script := []byte("#!/bin/sh\necho flag provided but not defined >&2\nexit 2\n")
		require.NoError(t, os.WriteFile(filepath.Join(assets, name), script, 0o700))
	}
	_, err := controlplane.Start(t.Context())
	require.ErrorContains(t, err, "etcd: ended before it was ready")
	require.ErrorContains(t, err, "flag provided but not defined")
	assert.Empty(t, entries(t, temp))
}

// The fake kube-apiserver is told, the first time, to use a port that is taken.
func TestAPortThatIsTakenIsReplaced(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, taken.Close()) })
	_, port, err := net.SplitHostPort(taken.Addr().String())
	require.NoError(t, err)
	real, assets := assetsFolder(t), t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(real, "etcd"), filepath.Join(assets, "etcd")))
	script := fmt.Sprintf("#!/bin/sh\nif mkdir '%s/tried' 2>/dev/null; then set -- \"$@\" --secure-port=%s; fi\nexec '%s/kube-apiserver' \"$@\"\n",
		assets, port, real)
	require.NoError(t, os.WriteFile(filepath.Join(assets, "kube-apiserver"), []byte(script), 0o700))
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	s, err := controlplane.Start(t.Context())
	require.NoError(t, err)
	assert.DirExists(t, filepath.Join(assets, "tried"))
	assert.NotContains(t, s.AdminConfig().Host, port)
	assert.NoError(t, s.Stop())
}

// assetsFolder returns the folder of the real programs.
func assetsFolder(t *testing.T) string {
	t.Helper()
	if folder := os.Getenv("KUBEBUILDER_ASSETS"); folder != "" {
		return folder
	}
	folder, err := filepath.Abs("../../.cache/controlplane")
	require.NoError(t, err)
	return folder
}

func TestRestartKeepsTheAddressAndTheData(t *testing.T) {
	s, err := controlplane.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	namespace := s.Namespace(t)
	s.CreateStage(t, namespace, "dev")
	before := s.SetStatus(t, controlplane.Stages, namespace, "dev", map[string]any{"freightSummary": "1.0"})
	user := s.UserConfig(t, "jane", "system:masters")

	require.NoError(t, s.StopAPI())
	_, err = s.Client().Resource(controlplane.Stages).Namespace(namespace).Get(t.Context(), "dev", metav1.GetOptions{})
	require.ErrorContains(t, err, "refused")
	require.NoError(t, s.Restart(t.Context()))
	assert.Equal(t, before, s.Get(t, controlplane.Stages, namespace, "dev"))

	require.NoError(t, s.Restart(t.Context()))
	after, err := controlplane.ClientFor(t, user).Resource(controlplane.Stages).Namespace(namespace).
		Get(t.Context(), "dev", metav1.GetOptions{})
	require.NoError(t, err, "credentials made before hold")
	assert.Equal(t, before, after)
}
