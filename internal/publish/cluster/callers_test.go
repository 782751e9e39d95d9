package cluster_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/cases"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish/cluster"
)

func TestCallersRefuseAnAddressWithCredentials(t *testing.T) {
	_, err := cluster.NewCallers(&rest.Config{Host: "https://user:hunter2@api.example.com"})
	require.ErrorIs(t, err, fault.Invalid)
	require.NotContains(t, err.Error(), "hunter2")
}

func TestATokenDoesNotFollowARedirect(t *testing.T) {
	for _, code := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			t.Errorf("%d was followed", code)
		}))
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				t.Errorf("%d: the API server has not got the caller's token", code)
			}
			http.Redirect(w, r, strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1)+r.URL.Path, code)
		}))
		callers, err := cluster.NewCallers(&rest.Config{Host: api.URL})
		require.NoError(t, err)
		client, err := callers.Client("secret")
		require.NoError(t, err)
		_, err = client.Get(t.Context(), cases.Target)
		require.ErrorIs(t, err, fault.Unavailable)
		require.NotContains(t, err.Error(), "secret")
		callers.Close()
		api.Close()
		elsewhere.Close()
	}
}
