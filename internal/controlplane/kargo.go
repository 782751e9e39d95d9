package controlplane

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// KargoAPIVersion is the apiVersion of Kargo's resources.
	KargoAPIVersion = "kargo.akuity.io/v1alpha1"
	// KargoManager is the field manager of Kargo's controllers: they name none,
	// so the server takes the name of their binary.
	KargoManager = "kargo"
)

// The resources that publications go to.
var (
	Stages   = schema.GroupVersionResource{Group: "kargo.akuity.io", Version: "v1alpha1", Resource: "stages"}
	Freights = schema.GroupVersionResource{Group: "kargo.akuity.io", Version: "v1alpha1", Resource: "freights"}
)

// CreateStage creates a Stage that takes Freight of a Warehouse named
// "warehouse" directly, and has no status.
func (s *Server) CreateStage(t testing.TB, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	stage := newObject(KargoAPIVersion, "Stage", namespace, name)
	stage.Object["spec"] = map[string]any{
		"requestedFreight": []any{map[string]any{
			"origin":  map[string]any{"kind": "Warehouse", "name": "warehouse"},
			"sources": map[string]any{"direct": true},
		}},
	}
	return s.createKargo(t, Stages, stage)
}

// CreateFreight creates Freight of a Warehouse named "warehouse" with one
// commit, and no status.
func (s *Server) CreateFreight(t testing.TB, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	freight := newObject(KargoAPIVersion, "Freight", namespace, name)
	freight.Object["origin"] = map[string]any{"kind": "Warehouse", "name": "warehouse"}
	freight.Object["commits"] = []any{map[string]any{
		"repoURL": "https://git.example.com/acme/web.git",
		"id":      "3f1c9d0b7a5e4c2d8f6b1a0e9d7c5b3a1f2e4d6c",
	}}
	return s.createKargo(t, Freights, freight)
}

func (s *Server) createKargo(
	t testing.TB, resource schema.GroupVersionResource, object *unstructured.Unstructured,
) *unstructured.Unstructured {
	t.Helper()
	created, err := s.client.Resource(resource).Namespace(object.GetNamespace()).
		Create(t.Context(), object, metav1.CreateOptions{FieldManager: "kubectl-create"})
	require.NoError(t, err)
	return created
}

// SetStatus merges status into an object's, as an Update by Kargo's controller:
// members that are left out stay, nil removes one. It returns the result.
func (s *Server) SetStatus(
	t testing.TB, resource schema.GroupVersionResource, namespace, name string, status map[string]any,
) *unstructured.Unstructured {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"status": status})
	require.NoError(t, err)
	patched, err := s.client.Resource(resource).Namespace(namespace).Patch(t.Context(), name,
		types.MergePatchType, patch, metav1.PatchOptions{FieldManager: KargoManager}, "status")
	require.NoError(t, err)
	return patched
}

// Get returns an object as it stands.
func (s *Server) Get(t testing.TB, resource schema.GroupVersionResource, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	object, err := s.client.Resource(resource).Namespace(namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return object
}
