//go:build integration

package examples_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What kubectl apply --dry-run=server does with every manifest, without a warning
// and without an unknown field. The kinds of
// cert-manager are not served here.
func TestTheAPIServerTakesEveryManifest(t *testing.T) {
	k := newKubectl(t)
	files := append(manifests(t, "deploy"), manifests(t, "kargo-http")...)
	for _, file := range files {
		for _, object := range objects(t, file) {
			if object.GetKind() != "Namespace" {
				continue
			}
			if err := k.create(t, object); !apierrors.IsAlreadyExists(err) {
				require.NoError(t, err)
			}
		}
	}
	taken, refused := 0, []string{}
	for _, file := range files {
		for _, object := range objects(t, file) {
			if object.GetKind() == "Namespace" || object.GroupVersionKind().Group == "cert-manager.io" {
				continue
			}
			taken++
			if err := k.create(t, object, metav1.DryRunAll); err != nil {
				refused = append(refused, fmt.Sprintf("%s: %s %s: %s", file, object.GetKind(), object.GetName(), err))
			}
		}
	}
	assert.Equal(t, 16, taken, "objects of both folders")
	assert.Empty(t, refused)
	assert.Empty(t, k.warnings)
}

// The test above can fail: strict means strict, and warnings arrive.
func TestTheAPIServerIsStrict(t *testing.T) {
	k := newKubectl(t)
	task := objects(t, "kargo-http/clusterpromotiontask.yaml")[0]
	task.Object["spec"].(map[string]any)["stepz"] = []any{}
	require.ErrorContains(t, k.create(t, task, metav1.DryRunAll), "stepz")

	pod := objects(t, "deploy/deployment.yaml")[0]
	if err := k.create(t, objects(t, "deploy/namespace.yaml")[0]); !apierrors.IsAlreadyExists(err) {
		require.NoError(t, err)
	}
	c := pod.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
	c["env"] = append(c["env"].([]any), c["env"].([]any)[0])
	require.NoError(t, k.create(t, pod, metav1.DryRunAll))
	assert.NotEmpty(t, k.warnings)
}
