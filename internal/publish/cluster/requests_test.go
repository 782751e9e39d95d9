package cluster_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/cluster"
)

func TestAServerThatIsNotThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	host := server.URL
	server.Close()
	client, err := cluster.New(&rest.Config{Host: host, BearerToken: token})
	require.NoError(t, err)
	for _, call := range calls {
		err := call(t.Context(), client)
		require.ErrorIs(t, err, fault.Unavailable)
		require.ErrorContains(t, err, "Stage demo/test: the API server could not be reached")
		require.NotContains(t, err.Error(), strings.TrimPrefix(host, "http://"))
	}
}

func TestAServerThatNeverAnswers(t *testing.T) {
	for what, call := range calls {
		release := make(chan struct{})
		client, asked := serving(t, func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-release:
			}
		})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err := call(ctx, client)
		cancel()
		close(release)
		require.ErrorIs(t, err, fault.Timeout)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, "the deadline passed during "+strings.Join(strings.Fields(what), " "))
		require.EqualValues(t, 1, asked.Load())
	}
}

func TestAServerThatThrottlesIsAskedAgain(t *testing.T) {
	for what, call := range calls {
		var n atomic.Int32
		client, asked := serving(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == 1 {
				status(429, nil, "Retry-After", "0")(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(body.Object)
		})
		require.NoError(t, call(t.Context(), client), what)
		require.EqualValues(t, 2, asked.Load())

		client, _ = serving(t, status(429, nil, "Retry-After", "0"))
		err := call(t.Context(), client)
		require.ErrorIs(t, err, fault.Unavailable)
		require.ErrorContains(t, err, "the API server answered 429 to "+strings.Join(strings.Fields(what), " "))

		client, _ = serving(t, status(429, nil, "Retry-After", "60"))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		err = call(ctx, client)
		cancel()
		require.ErrorIs(t, err, fault.Timeout, "it waits no longer than the context lasts")
	}
}

func TestWhatIsAsked(t *testing.T) {
	type asked struct{ method, path, query, content, auth string }
	var got asked
	client, _ := serving(t, func(w http.ResponseWriter, r *http.Request) {
		got = asked{r.Method, r.URL.Path, r.URL.Query().Encode(), r.Header.Get("Content-Type"), r.Header.Get("Authorization")}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body.Object)
	})
	_, err := client.Get(t.Context(), decode.Target{Kind: "Freight", Namespace: "demo", Name: "abc"})
	require.NoError(t, err)
	require.Equal(t, asked{"GET", "/apis/kargo.akuity.io/v1alpha1/namespaces/demo/freights/abc", "", "", "Bearer " + token}, got)
	_, err = client.Apply(t.Context(), answered, body, publish.ApplyOptions{Manager: "publish-metadata/a::b", Force: true})
	require.NoError(t, err)
	require.Equal(t, asked{"PATCH", "/apis/kargo.akuity.io/v1alpha1/namespaces/demo/stages/test/status", "fieldManager=publish-metadata%2Fa%3A%3Ab&force=true", "application/apply-patch+yaml", "Bearer " + token}, got)
	_, err = client.Patch(t.Context(), answered, []byte("[]"), "publish-metadata/a")
	require.NoError(t, err)
	require.Equal(t, asked{"PATCH", "/apis/kargo.akuity.io/v1alpha1/namespaces/demo/stages/test/status", "fieldManager=publish-metadata%2Fa", "application/json-patch+json", "Bearer " + token}, got)
}

// Not parallel: stderr is the process's.
func TestWarningsOfTheServerAreNotLogged(t *testing.T) {
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	former := os.Stderr
	os.Stderr = writer
	t.Cleanup(func() { os.Stderr = former })
	client, _ := serving(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body.Object)
	})
	_, err = client.Get(t.Context(), answered)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	logged, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.NotContains(t, string(logged), "s3cr3t")
}

func TestAConfigurationThatCannotBeUsed(t *testing.T) {
	_, err := cluster.New(&rest.Config{Host: "https://a.example.com", TLSClientConfig: rest.TLSClientConfig{CertData: []byte("s3cr3t"), KeyData: []byte("s3cr3t")}})
	require.ErrorIs(t, err, fault.Invalid)
	require.NotContains(t, err.Error(), "s3cr3t")
}
