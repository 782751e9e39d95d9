package cli_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kargo-steps/publish-metadata/internal/cases"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
)

const token = "t0ken-s3cr3t"

// apiServer serves the Stage of stageText to whoever has the token.
func apiServer(t testing.TB) (*httptest.Server, *offline.Store) {
	t.Helper()
	store, err := offline.Read([]byte(stageText))
	require.NoError(t, err)
	var mu sync.Mutex
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Warning", `299 - "warning-s3cr3t"`)
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":401,"message":"body-s3cr3t"}`)
			return
		}
		stored, err := store.Get(r.Context(), cases.Target)
		if r.Method == http.MethodPatch {
			content, _ := io.ReadAll(r.Body)
			body := &unstructured.Unstructured{}
			if err = body.UnmarshalJSON(content); err == nil {
				stored, err = store.Apply(r.Context(), cases.Target, body, publish.ApplyOptions{Manager: r.URL.Query().Get("fieldManager")})
			}
		}
		if err != nil {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(stored.Object)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, store
}

// kubeconfig returns the path of a kubeconfig for a server.
func kubeconfig(t testing.TB, server *httptest.Server, token string) string {
	t.Helper()
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	config, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "a",
		"clusters": []any{map[string]any{"name": "a", "cluster": map[string]any{"server": server.URL, "certificate-authority-data": authority}}},
		"users":    []any{map[string]any{"name": "a", "user": map[string]any{"token": token}}},
		"contexts": []any{map[string]any{"name": "a", "context": map[string]any{"cluster": "a", "user": "a", "namespace": "elsewhere"}}},
	})
	require.NoError(t, err)
	return file(t, "kubeconfig", string(config))
}

// nowhere is an environment without any cluster.
func nowhere(t *testing.T) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
}

func TestAKubeconfigIsAllThatPublishingNeeds(t *testing.T) {
	nowhere(t)
	server, store := apiServer(t)
	got := run(t, requestText, "-f", "-", "-o", "json", "--kubeconfig", kubeconfig(t, server, token))
	require.Equal(t, 0, got.code, got.out+got.err)
	require.Contains(t, got.out, `"changed": true`)
	require.NotContains(t, got.out, `"stage":`)
	require.NotContains(t, got.out+got.err, "s3cr3t")
	links, _, _ := unstructured.NestedMap(store.Object().Object, "status", "metadata", "links")
	require.Contains(t, links, "argocd")

	t.Setenv("KUBECONFIG", kubeconfig(t, server, token))
	got = run(t, requestText, "-f", "-", "-o", "json")
	require.Equal(t, 0, got.code, got.out+got.err)
	require.Contains(t, got.out, `"changed": false`)
}

func TestAWrongTokenIsToldWithoutShowingIt(t *testing.T) {
	nowhere(t)
	server, store := apiServer(t)
	got := run(t, requestText, "-f", "-", "--kubeconfig", kubeconfig(t, server, "wrong-s3cr3t"))
	require.Equal(t, 2, got.code)
	require.Contains(t, got.out, "the API server does not accept the credentials to get stages in namespace demo")
	require.NotContains(t, got.out+got.err, "s3cr3t")
	require.False(t, store.Changed())

	got = run(t, requestText, "-f", "-", "--kubeconfig", kubeconfig(t, server, "wrong"), "--token", token)
	require.Equal(t, 0, got.code, "a flag goes before the kubeconfig: %s", got.out)
	require.NotContains(t, got.out+got.err, "s3cr3t")
}

func TestACertificateThatIsNotTrusted(t *testing.T) {
	nowhere(t)
	server, _ := apiServer(t)
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: %q}}]\nusers: [{name: a, user: {token: %s}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n", server.URL, token)
	got := run(t, requestText, "-f", "-", "--kubeconfig", file(t, "kubeconfig", config))
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, "Errored: Stage demo/test: the certificate of the API server is not trusted")
	require.NotContains(t, got.out+got.err, "s3cr3t")
}

func TestKubeconfigsThatCannotBe(t *testing.T) {
	nowhere(t)
	for name, test := range map[string]struct {
		path, message string
	}{
		"that does not exist":     {filepath.Join(t.TempDir(), "none"), "cluster: the kubeconfig cannot be used"},
		"that is no kubeconfig":   {file(t, "kubeconfig", "s3cr3t: ["), "cluster: the kubeconfig cannot be used"},
		"with a context too many": {file(t, "kubeconfig", "apiVersion: v1\nkind: Config\ncurrent-context: s3cr3t\n"), "cluster: the kubeconfig cannot be used"},
		"that is empty":           {file(t, "kubeconfig", ""), "cluster: there is no kubeconfig and no service account: set --kubeconfig"},
		"that is not given":       {"", "cluster: there is no kubeconfig and no service account: set --kubeconfig"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, requestText, "-f", "-", "-o", "json", "--kubeconfig", test.path)
			require.Equal(t, 2, got.code, got.out)
			require.Contains(t, got.out, test.message)
			require.NotContains(t, got.out+got.err, "s3cr3t")
		})
	}
}

func TestACallerThatHasNoTime(t *testing.T) {
	nowhere(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	got := run(t, requestText, "-f", "-", "-o", "json", "--timeout", "100ms", "--kubeconfig", kubeconfig(t, server, token))
	require.Equal(t, 1, got.code)
	require.Contains(t, got.out, `"status": "Errored"`)
	require.Contains(t, got.out, "Stage demo/test: the deadline passed")
}
