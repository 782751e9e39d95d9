//go:build integration

package controlplane_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
)

func TestNamespacesAreFreshAndNamedAfterTheTest(t *testing.T) {
	first, second := server.Namespace(t), server.Namespace(t)
	assert.NotEqual(t, first, second)
	assert.Regexp(t, `^testnamespacesarefreshandnamedafterthete-[a-z0-9]+$`, first)
}

func TestStatusIsMergedAsKargosController(t *testing.T) {
	namespace := server.Namespace(t)
	stage := server.CreateStage(t, namespace, "dev")
	assert.Equal(t, "Stage", stage.GetKind())
	assert.NotContains(t, stage.Object, "status")
	server.SetStatus(t, controlplane.Stages, namespace, "dev", map[string]any{
		"freightSummary":   "1.0",
		"currentPromotion": map[string]any{"name": "first"},
	})
	server.SetStatus(t, controlplane.Stages, namespace, "dev", map[string]any{
		"freightSummary": nil,
		"lastPromotion":  map[string]any{"name": "zeroth"},
	})
	got := server.Get(t, controlplane.Stages, namespace, "dev")
	assert.Equal(t, map[string]any{
		"currentPromotion": map[string]any{"name": "first"},
		"lastPromotion":    map[string]any{"name": "zeroth"},
	}, got.Object["status"])
	assert.Equal(t, stage.Object["spec"], got.Object["spec"])
	managers := map[string]string{}
	for _, entry := range got.GetManagedFields() {
		managers[entry.Manager] = string(entry.Operation) + " " + entry.Subresource
	}
	assert.Equal(t, map[string]string{"kubectl-create": "Update ", "kargo": "Update status"}, managers)
}

func TestFreightHasMetadataToo(t *testing.T) {
	namespace := server.Namespace(t)
	server.CreateFreight(t, namespace, "f1")
	server.SetStatus(t, controlplane.Freights, namespace, "f1", map[string]any{
		"metadata": map[string]any{"any": map[string]any{"thing": int64(1)}},
	})
	got, found, err := unstructured.NestedInt64(
		server.Get(t, controlplane.Freights, namespace, "f1").Object, "status", "metadata", "any", "thing")
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, int64(1), got)
}
