package server_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/server"
)

// TestHTTP2 is over the protocol that Kargo's http step speaks where it can.
func TestHTTP2(t *testing.T) {
	m, trusted := mount{t.TempDir()}, x509.NewCertPool()
	certificate, key := keyPair(t, 1)
	trusted.AppendCertsFromPEM(certificate)
	m.put(t, "..1", certificate, key)
	api := newFakeAPI(t)
	r := start(t, api.config(), within(500*time.Millisecond), func(o *server.Options) {
		o.CertFile, o.KeyFile = filepath.Join(m.folder, "..1", "tls.crt"), filepath.Join(m.folder, "..1", "tls.key")
	})
	r.client = &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	t.Cleanup(r.client.CloseIdleConnections)

	probe, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/healthz", nil)
	require.NoError(t, err)
	response, err := r.client.Do(probe)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, 2, response.ProtoMajor)

	require.Equal(t, 200, r.post(t, goodToken, linkTo("https://a.example.com")).code)
	require.Equal(t, 413, r.post(t, goodToken, strings.Repeat("x", 3<<20)).code)
	body, rest := io.Pipe() // the end does not come
	go func() { _, _ = rest.Write([]byte("{")) }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/publish", body)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+goodToken)
	a, err := r.send(request)
	require.NoError(t, err)
	require.Equal(t, 408, a.code, a.text)
	require.True(t, a.Retryable)

	api.before = func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }
	require.Equal(t, 504, r.post(t, goodToken, linkTo("https://a.example.com")).code)
}
