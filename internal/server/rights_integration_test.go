//go:build integration

package server_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kargo-steps/publish-metadata/internal/server"
)

// publishTo is a request of no promotion that publishes a link to a project's Stage.
func publishTo(project, url string) string {
	body := strings.Replace(linkTo(url), `"promotion": "test.01", `, "", 1)
	return strings.Replace(body, `"demo"`, `"`+project+`"`, 1)
}

func TestAProjectsTokenIsGoodForItsProjectAlone(t *testing.T) {
	mine, token := project(t, rights...)
	theirs, theirToken := project(t, rights...)
	r := start(t, control.AdminConfig())
	a := r.post(t, token, publishTo(mine, "https://a.example.com"))
	require.Equal(t, 200, a.code, a.text)
	require.Equal(t, map[string]any{"a": map[string]any{"url": "https://a.example.com"}}, metadataOf(t, mine)["links"])

	a = r.post(t, token, publishTo(theirs, "https://a.example.com"))
	require.Equal(t, 403, a.code, a.text)
	assert.Contains(t, a.Message, "the caller may not get stages in namespace "+theirs)
	require.Empty(t, metadataOf(t, theirs))
	require.Equal(t, 200, r.post(t, theirToken, publishTo(theirs, "https://b.example.com")).code)
}

func TestTokensWithoutTheRights(t *testing.T) {
	r := start(t, control.AdminConfig())
	name, token := project(t)
	a := r.post(t, token, publishTo(name, "https://a.example.com"))
	require.Equal(t, 403, a.code, a.text)
	assert.Contains(t, a.Message, "the caller may not get stages in namespace "+name)
	require.Empty(t, metadataOf(t, name))

	name, token = project(t, rights[0])
	a = r.post(t, token, publishTo(name, "https://a.example.com"))
	require.Equal(t, 403, a.code, a.text)
	assert.Contains(t, a.Message, "the caller may not patch stages/status in namespace "+name)
	require.Empty(t, metadataOf(t, name))
}

func TestTokensThatAreNoneOfTheCluster(t *testing.T) {
	r := start(t, control.AdminConfig())
	name, token := project(t, rights...)
	deleted := schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
	for what, token := range map[string]string{"wrong": "not-a-token", "tampered with": token[:len(token)-8] + "AAAAAAAA"} {
		a := r.post(t, token, publishTo(name, "https://a.example.com"))
		require.Equal(t, 401, a.code, what)
		assert.Contains(t, a.Message, "does not accept the credentials to get stages in namespace "+name)
		assert.NotContains(t, a.text+r.logs.String(), token)
	}
	accounts := control.Client().Resource(deleted).Namespace(name)
	require.NoError(t, accounts.Delete(t.Context(), "publisher", metav1.DeleteOptions{}))
	eventually(t, "the token of a deleted account is refused", func() bool {
		return r.post(t, token, publishTo(name, "https://a.example.com")).code == 401
	})
}

func TestAnExpiredTokenIsRefused(t *testing.T) {
	r := start(t, control.AdminConfig())
	name, token := project(t, rights...)
	valid := control.TokenUntil(t, token, time.Now().Add(30*time.Minute))
	require.Equal(t, 200, r.post(t, valid, publishTo(name, "https://a.example.com")).code, "the token is as good as the real one")
	expired := control.TokenUntil(t, token, time.Now().Add(-time.Hour))
	a := r.post(t, expired, publishTo(name, "https://b.example.com"))
	require.Equal(t, 401, a.code, a.text)
	assert.Contains(t, a.Message, "renew the token")
	require.Equal(t, map[string]any{"a": map[string]any{"url": "https://a.example.com"}}, metadataOf(t, name)["links"])
}

// TestTheAPIServerStopsAndComesBack publishes while the API server is killed
// between the read and the write, and restarted.
func TestTheAPIServerStopsAndComesBack(t *testing.T) {
	name, token := project(t, rights...)
	var writes atomic.Int64
	config := control.AnonymousConfig()
	r := start(t, config, func(o *server.Options) { o.RequestTimeout = 9 * time.Second })
	require.Equal(t, 200, r.post(t, token, publishTo(name, "https://a.example.com")).code)
	require.Equal(t, 200, r.get(t, "/readyz").code)

	answered := make(chan answer, 64)
	stop := make(chan struct{})
	go func() {
		defer close(answered)
		for {
			select {
			case <-stop:
				return
			default:
			}
			a, err := r.try(t.Context(), token, publishTo(name, "https://b.example.com"))
			assert.NoError(t, err)
			writes.Add(1)
			select {
			case answered <- a:
			default:
			}
		}
	}()
	eventually(t, "it publishes", func() bool { return writes.Load() > 3 })
	require.NoError(t, control.StopAPI())
	eventually(t, "it is not ready", func() bool { return r.get(t, "/readyz").code == http.StatusServiceUnavailable })
	require.NoError(t, control.Restart(t.Context()))
	eventually(t, "it is ready", func() bool { return r.get(t, "/readyz").code == http.StatusOK })
	close(stop)
	for a := range answered {
		// An API server that has just started knows no Role yet, and says 403.
		require.Contains(t, []int{200, 403, 503, 504}, a.code, a.text)
		require.Equal(t, a.code >= 500, a.Retryable)
	}
	require.Equal(t, 200, r.post(t, token, publishTo(name, "https://c.example.com")).code)
	require.Equal(t, map[string]any{"a": map[string]any{"url": "https://c.example.com"}}, metadataOf(t, name)["links"])
}
