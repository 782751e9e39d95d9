package publish

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/resolve"
	"github.com/kargo-steps/publish-metadata/internal/shape"
	"github.com/kargo-steps/publish-metadata/schema"
)

// NewPublication returns the publication of a config by the step publish of the
// promotion test.02 of Stage demo/test.
func NewPublication(t testing.TB, config string) check.Publication {
	t.Helper()
	return PublicationOf(t, "context: {project: demo, stage: test, promotion: test.02, meta: {step: {alias: publish}}}\nconfig: "+config)
}

// PublicationOf returns the publication of a request.
func PublicationOf(t testing.TB, request string) check.Publication {
	t.Helper()
	tree, err := document.Parse([]byte(request))
	require.NoError(t, err)
	registry, err := schema.NewRegistry()
	require.NoError(t, err)
	job, err := decode.Decode(t.Context(), registry, tree.(map[string]any))
	require.NoError(t, err)
	resolved, err := resolve.Resolve(t.Context(), job)
	require.NoError(t, err)
	publication, err := check.Check(t.Context(), shape.Shape(resolved))
	require.NoError(t, err)
	return publication
}

// stageOf returns the Stage demo/test of a YAML text, at resourceVersion 7.
func stageOf(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	tree, err := document.Parse([]byte(text))
	require.NoError(t, err)
	stage := &unstructured.Unstructured{Object: tree.(map[string]any)}
	stage.SetAPIVersion(APIVersion)
	stage.SetKind("Stage")
	stage.SetNamespace("demo")
	stage.SetName("test")
	stage.SetResourceVersion("7")
	return stage
}

const (
	publishLink = `{metadata: [{key: links, value: {a: {url: "https://a.example.com"}}}]}`
	publishNone = `{metadata: []}`
)
