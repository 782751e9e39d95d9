package controlplane

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var (
	namespaces      = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	serviceAccounts = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
)

// Main is a whole TestMain: it starts one Server, hands it over, runs the tests
// and stops it. The process ends with the tests' code, or 1 where the Server
// does not start or stop.
func Main(m *testing.M, use func(*Server)) {
	s, err := Start(context.Background()) //nolint:forbidigo // TestMain is the test binary's main
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	use(s)
	code := m.Run()
	if err := s.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// Client returns an administrator's client.
func (s *Server) Client() dynamic.Interface { return s.client }

// ClientFor returns a client with the rights of cfg.
func ClientFor(t testing.TB, cfg *rest.Config) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(cfg)
	require.NoError(t, err)
	return client
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// Namespace makes a namespace whose name no other test has. It is left behind:
// nothing here could empty it, and the Server goes with its tests.
func (s *Server) Namespace(t testing.TB) string {
	t.Helper()
	prefix := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	prefix = prefix[:min(len(prefix), 40)] + "-"
	namespace := newObject("v1", "Namespace", "", "")
	namespace.SetGenerateName(prefix)
	created, err := s.client.Resource(namespaces).Create(t.Context(), namespace, metav1.CreateOptions{})
	require.NoError(t, err)
	return created.GetName()
}

// UserConfig returns a config, by client certificate, for a user of any name
// who has no rights until Grant, or a binding to a group, gives some.
func (s *Server) UserConfig(t testing.TB, user string, groups ...string) *rest.Config {
	t.Helper()
	cfg, err := s.userConfig(user, groups...)
	require.NoError(t, err)
	return cfg
}

// ServiceAccountConfig makes a service account and returns a config with a
// bearer token of it, and the user name that Grant takes for it.
func (s *Server) ServiceAccountConfig(t testing.TB, namespace, name string) (*rest.Config, string) {
	t.Helper()
	accounts := s.client.Resource(serviceAccounts).Namespace(namespace)
	account := newObject("v1", "ServiceAccount", namespace, name)
	_, err := accounts.Create(t.Context(), account, metav1.CreateOptions{})
	require.NoError(t, err)
	request := newObject("authentication.k8s.io/v1", "TokenRequest", namespace, name)
	request, err = accounts.Create(t.Context(), request, metav1.CreateOptions{}, "token")
	require.NoError(t, err)
	token, _, err := unstructured.NestedString(request.Object, "status", "token")
	require.NoError(t, err)
	require.NotEmpty(t, token)
	cfg := s.AnonymousConfig()
	cfg.BearerToken = token
	return cfg, "system:serviceaccount:" + namespace + ":" + name
}

// newObject returns an object with no more than its identity; namespace and
// name may be "".
func newObject(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	if namespace != "" {
		object.SetNamespace(namespace)
	}
	if name != "" {
		object.SetName(name)
	}
	return object
}
