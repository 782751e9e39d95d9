//go:build integration

package examples_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
	"github.com/kargo-steps/publish-metadata/internal/server"
)

// install creates the objects of a manifest that are not there.
func (k *kubectl) install(t *testing.T, file string) {
	t.Helper()
	for _, object := range objects(t, file) {
		if err := k.create(t, object); !apierrors.IsAlreadyExists(err) {
			require.NoError(t, err, "%s: %s %s", file, object.GetKind(), object.GetName())
		}
	}
}

// tokenOf returns a token of a service account, as Kubernetes puts one into the
// Secret.
func (k *kubectl) tokenOf(t *testing.T, namespace, name string) string {
	t.Helper()
	accounts := schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	request := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": map[string]any{"name": name}}}
	issued, err := k.client.Resource(accounts).Namespace(namespace).Create(t.Context(), request, metav1.CreateOptions{}, "token")
	require.NoError(t, err)
	token, _, err := unstructured.NestedString(issued.Object, "status", "token")
	require.NoError(t, err)
	return token
}

// The project of the example, its rights and its Stage, on a real API server: what
// the template publishes is there, and what the Roles do not allow is refused.
func TestTheExampleOnAnAPIServer(t *testing.T) {
	k := newKubectl(t)
	k.install(t, "kargo-http/project.yaml")
	k.install(t, "kargo-http/stage.yaml")
	cluster.SetStatus(t, controlplane.Stages, "demo", "test", map[string]any{"currentPromotion": map[string]any{"name": "test.01"}})
	cluster.CreateFreight(t, "demo", "3f2a9c1")

	options := server.DefaultOptions()
	options.Cluster = cluster.AdminConfig() // its credentials must not be used
	served, err := server.New(options)
	require.NoError(t, err)
	door := httptest.NewServer(served.Handler())
	defer door.Close()
	p := newPromotion(door.URL)
	p.secrets["publish-metadata-token"]["token"] = k.tokenOf(t, "demo", "publish-metadata")
	metadata := func(resource schema.GroupVersionResource, name string) map[string]any {
		metadata, _, _ := unstructured.NestedMap(cluster.Get(t, resource, "demo", name).Object, "status", "metadata")
		return metadata
	}
	p.stageMetadata = func(stage string) map[string]any { return metadata(controlplane.Stages, stage) }

	steps, _ := stepsOf(t, "kargo-http/stage.yaml", "Stage", "spec", "promotionTemplate", "spec")
	require.Eventually(t, func() bool { // until the server has taken note of the Role
		return p.run(t, inflate(t, steps...)...).status == succeeded
	}, 10*time.Second, 100*time.Millisecond)
	assert.Contains(t, metadata(controlplane.Stages, "test")["links"], "argocd")
	assert.Contains(t, metadata(controlplane.Stages, "test")["applications"], "argocd/web")
	assert.Equal(t, "https://cd.example.com/applications/argocd/web", p.state["read"].(map[string]any)["url"])

	freight := publishStep(variable{"target", "freight"}, variable{"metadata", linksText})
	end := p.run(t, inflate(t, freight)...)
	require.Equal(t, failed, end.status)
	assert.Contains(t, end.message, "HTTP (403)")
	assert.Contains(t, end.message, "may not get freights in namespace demo")
	k.install(t, "kargo-http/freight.yaml")
	require.Eventually(t, func() bool { return p.run(t, inflate(t, freight)...).status == succeeded }, 10*time.Second, 100*time.Millisecond)
	assert.Contains(t, metadata(controlplane.Freights, "3f2a9c1")["links"], "argocd")

	other := newPromotion(door.URL)
	other.secrets, other.project, other.state = p.secrets, cluster.Namespace(t), p.state
	end = other.run(t, inflate(t, publishStep(variable{"metadata", linksText}))...)
	assert.Equal(t, failed, end.status)
	assert.Contains(t, end.message, "may not get stages in namespace "+other.project)
	assert.Contains(t, end.message, "HTTP (403)")
}
