//go:build integration

package offline_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/cluster"
)

var server *controlplane.Server

func TestMain(m *testing.M) {
	controlplane.Main(m, func(s *controlplane.Server) { server = s })
}

// write is an apply by a manager, or a JSON Patch.
type write struct {
	manager string
	// status is the applied status as JSON; "" leaves it out.
	status string
	patch  string
	force  bool
}

// do returns status as it is afterwards, and the error's kind and message.
func (w write) do(t testing.TB, client publish.Client, target decode.Target) (status, kind, message string) {
	t.Helper()
	var err error
	if w.patch != "" {
		_, err = client.Patch(t.Context(), target, []byte(w.patch), w.manager)
	} else {
		object := body("", nil)
		object.SetNamespace(target.Namespace)
		if w.status != "" {
			object = withStatus(t, object, w.status)
		}
		_, err = client.Apply(t.Context(), target, object, publish.ApplyOptions{Manager: w.manager, Force: w.force})
	}
	if failure := (*fault.Error)(nil); errors.As(err, &failure) {
		kind, message = string(failure.Kind), failure.Message
	} else if err != nil {
		kind = err.Error()
	}
	live, err := client.Get(t.Context(), target)
	require.NoError(t, err)
	encoded, err := json.Marshal(live.Object["status"])
	require.NoError(t, err)
	return string(encoded), kind, message
}

func withStatus(t testing.TB, object *unstructured.Unstructured, status string) *unstructured.Unstructured {
	text, err := object.MarshalJSON()
	require.NoError(t, err)
	joined := &unstructured.Unstructured{}
	require.NoError(t, joined.UnmarshalJSON([]byte(strings.TrimSuffix(strings.TrimSpace(string(text)), "}")+`,"status":`+status+"}")))
	return joined
}

const linksOfA, linksOfB = `{"metadata":{"links":{"a":{"url":"x"}}}}`, `{"metadata":{"links":{"b":{"url":"y"}}}}`

func TestAManifestRefusesWhatAnAPIServerDoes(t *testing.T) {
	client, err := cluster.New(server.AdminConfig())
	require.NoError(t, err)
	for name, writes := range map[string][]write{
		"an empty metadata alone":             {{manager: "a", status: `{"metadata":{}}`}},
		"an empty metadata in a status":       {{manager: "k", patch: `[{"op":"add","path":"/status","value":{"health":{"status":"Healthy"}}}]`}, {manager: "a", status: `{"metadata":{}}`}},
		"an empty metadata after entries":     {{manager: "a", status: linksOfA}, {manager: "a", status: `{"metadata":{}}`}},
		"an empty metadata beside others":     {{manager: "a", status: linksOfA}, {manager: "b", status: `{"metadata":{}}`}},
		"an empty metadata that others share": {{manager: "a", status: linksOfA}, {manager: "b", status: linksOfB}, {manager: "b", status: `{"metadata":{}}`}},
		"a metadata of null":                  {{manager: "a", status: `{"metadata":null}`}},
		"an empty status":                     {{manager: "a", status: linksOfA}, {manager: "a", status: `{}`}},
		"a withdrawal":                        {{manager: "a", status: linksOfA}, {manager: "a"}},
		"a withdrawal beside others":          {{manager: "a", status: linksOfA}, {manager: "b", status: linksOfB}, {manager: "b"}},
		"an empty key":                        {{manager: "a", status: linksOfA}, {manager: "a", status: `{"metadata":{"links":{}}}`}},
		"a key of null":                       {{manager: "a", status: `{"metadata":{"links":null,"tickets":{"a":{"key":null}}}}`}, {manager: "a", status: `{"metadata":{"links":null}}`}},
		"a patch to null":                     {{manager: "a", status: linksOfA}, {manager: "a", patch: `[{"op":"replace","path":"/status/metadata","value":null}]`}},
		"a patch to text":                     {{manager: "a", status: linksOfA}, {manager: "a", patch: `[{"op":"replace","path":"/status/metadata","value":"text"}]`}},
		"a patch that removes all":            {{manager: "a", status: linksOfA}, {manager: "a", patch: `[{"op":"remove","path":"/status/metadata"}]`}},
		"a conflict": {{manager: "a", status: linksOfA}, {manager: "k", patch: `[{"op":"add","path":"/status/metadata/links/c","value":{"url":"x"}}]`},
			{manager: "b", status: `{"metadata":{"links":{"a":{"url":"z"}}}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			project := server.Namespace(t)
			server.CreateStage(t, project, "test")
			real := decode.Target{Kind: "Stage", Namespace: project, Name: "test"}
			store := read(t, "apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\nmetadata: {name: test, namespace: "+project+"}\n")
			for _, w := range writes {
				wantStatus, wantKind, wantMessage := w.do(t, client, real)
				status, kind, message := w.do(t, store, real)
				assert.Equal(t, wantKind, kind, message)
				if kind == string(fault.Conflict) {
					assert.Equal(t, wantMessage, message)
				}
				if wantStatus == "{}" {
					wantStatus = "null" // a manifest keeps no empty status
				}
				assert.Equal(t, wantStatus, status)
			}
		})
	}
}
