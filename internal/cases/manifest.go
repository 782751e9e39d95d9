package cases

import (
	"encoding/json"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
)

// Target is the Stage of every case.
var Target = decode.Target{Kind: "Stage", Namespace: Project, Name: Stage}

// Manifest is the half of a Door whose Stage is a manifest.
type Manifest struct{ Text []byte }

const manifest = `# The Stage of a case.
apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata:
  name: test
  namespace: demo
spec:
  requestedFreight: # one Warehouse
  - origin: {kind: Warehouse, name: "web"}
    sources:
      direct: true
`

// NewManifest returns the Stage that a case starts with.
func NewManifest(t testing.TB, c Case) *Manifest {
	t.Helper()
	m := &Manifest{Text: []byte(manifest)}
	if c.Current != "" {
		m.Write(t, Write{Current: c.Current})
	}
	if c.Metadata != nil {
		m.Write(t, Write{Update: map[string]any{"status": map[string]any{"metadata": c.Metadata}}, Manager: "kargo-controller"})
	}
	return m
}

// Version returns the manifest itself.
func (m *Manifest) Version(testing.TB) string { return string(m.Text) }

// Stage returns the manifest's object.
func (m *Manifest) Stage(t testing.TB) map[string]any {
	t.Helper()
	tree, err := document.Parse(m.Text)
	require.NoError(t, err)
	return tree.(map[string]any)
}

// Write does what somebody else does.
func (m *Manifest) Write(t testing.TB, write Write) {
	t.Helper()
	store, err := offline.Read(m.Text)
	require.NoError(t, err)
	switch {
	case write.Apply != nil:
		_, err = store.Apply(t.Context(), Target, ApplyBody(write.Apply), publish.ApplyOptions{Manager: write.Manager})
	case write.Update != nil:
		_, err = store.Patch(t.Context(), Target, m.merged(t, write.Update), write.Manager)
	case write.ClearManagedFields:
		m.replace(t, document.Edit{Path: []string{"metadata", "managedFields"}})
		return
	case write.Current != "":
		m.setCurrent(t, write.Current)
		return
	}
	require.NoError(t, err)
	m.Text, err = store.Manifest()
	require.NoError(t, err)
}

func (m *Manifest) setCurrent(t testing.TB, name string) {
	edit := document.Edit{Path: []string{"status", "currentPromotion"}}
	if name != "none" {
		edit.Value = map[string]any{"name": name}
	}
	m.replace(t, edit)
}

func (m *Manifest) replace(t testing.TB, edit document.Edit) {
	text, err := document.Replace(m.Text, edit)
	require.NoError(t, err)
	m.Text = text
}

// merged returns the JSON Patch that sets the status as a merge patch makes it.
func (m *Manifest) merged(t testing.TB, patch map[string]any) []byte {
	before, err := json.Marshal(m.Stage(t))
	require.NoError(t, err)
	change, err := json.Marshal(patch)
	require.NoError(t, err)
	after, err := jsonpatch.MergePatch(before, change)
	require.NoError(t, err)
	var stage map[string]any
	require.NoError(t, json.Unmarshal(after, &stage))
	operations, err := json.Marshal([]any{map[string]any{"op": "add", "path": "/status", "value": stage["status"]}})
	require.NoError(t, err)
	return operations
}

// ApplyBody returns what a manager applies to have metadata.
func ApplyBody(metadata map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": publish.APIVersion, "kind": Target.Kind,
		"metadata": map[string]any{"name": Target.Name, "namespace": Target.Namespace},
		"status":   map[string]any{"metadata": native(metadata)},
	}}
}

// native returns a tree that apimachinery can copy.
func native(tree map[string]any) map[string]any {
	encoded, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	copied := &unstructured.Unstructured{}
	wrapped := `{"apiVersion":"v1","kind":"Tree","tree":` + string(encoded) + `}`
	if err := copied.UnmarshalJSON([]byte(strings.TrimSpace(wrapped))); err != nil {
		panic(err)
	}
	return copied.Object["tree"].(map[string]any)
}
