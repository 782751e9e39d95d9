//go:build integration

package examples_test

import (
	"fmt"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
)

var cluster *controlplane.Server

func TestMain(m *testing.M) {
	controlplane.Main(m, func(s *controlplane.Server) { cluster = s })
}

// kubectl creates objects of any kind, strictly, and notes warnings.
type kubectl struct {
	client dynamic.Interface

	mu       sync.Mutex
	warnings []string
}

func newKubectl(t testing.TB) *kubectl {
	t.Helper()
	k := &kubectl{}
	config := rest.CopyConfig(cluster.AdminConfig())
	config.WarningHandler = k
	k.client = controlplane.ClientFor(t, config)
	return k
}

// HandleWarningHeader is rest.WarningHandler.
func (k *kubectl) HandleWarningHeader(code int, _, text string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.warnings = append(k.warnings, fmt.Sprintf("%d %s", code, text))
}

// create creates an object, or only asks the API server whether it would. One
// with a namespace where its kind has none is not found, and the other way round.
func (k *kubectl) create(t testing.TB, object *unstructured.Unstructured, dryRun ...string) error {
	t.Helper()
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	_, err := k.client.Resource(resource).Namespace(object.GetNamespace()).Create(t.Context(), object, metav1.CreateOptions{
		DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict, FieldManager: "kubectl"})
	return err
}
