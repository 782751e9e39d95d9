package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/cli"
)

// stream is what a command that runs writes to.
type stream struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *stream) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *stream) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// address returns where a Server listens, "" while its log does not say.
func (s *stream) address() string {
	for line := range strings.Lines(s.String()) {
		var logged struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &logged) == nil && logged.Msg == "listening" {
			return logged.Address
		}
	}
	return ""
}

func TestServePublishesUntilItIsStopped(t *testing.T) {
	api, store := apiServer(t)
	authority := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, logs stream
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Execute(ctx, []string{"serve", "--address=127.0.0.1:0", "--shutdown-delay=0s", "--settle=0s", "--server=" + api.URL,
			"--certificate-authority=" + authority, "--kubeconfig="}, cli.Streams{Out: &out, Err: &logs, Getenv: os.LookupEnv})
	}()
	require.Eventually(t, func() bool { return logs.address() != "" }, 10*time.Second, 5*time.Millisecond)
	url := "http://" + logs.address()

	send := func(authorization string) int {
		body := `{"context": {"project": "demo", "stage": "test", "meta": {"step": {"alias": "publish"}}}, "metadata": "- {key: links, value: {a: {url: 'https://a.example.com'}}}"}`
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/publish", strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", authorization)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	require.Equal(t, http.StatusUnauthorized, send(""))
	require.False(t, store.Changed())
	require.Equal(t, http.StatusOK, send("Bearer "+token))
	require.True(t, store.Changed())
	stop()
	require.Equal(t, 0, <-ended)
	require.Empty(t, out.String())
	require.Contains(t, logs.String(), `"msg":"stopped"`)
	require.NotContains(t, logs.String(), token)
}

func TestServeFlagsThatCannotBeUsed(t *testing.T) {
	for message, args := range map[string][]string{
		"serve: --tls-cert-file and --tls-private-key-file go together": {"--tls-cert-file=a"},
		"serve: tokens would be sent in the clear":                      {"--address=:0"},
		"serve: --max-concurrent has to be more than 0":                 {"--max-concurrent=0"},
		"serve: it cannot listen on nowhere":                            {"--address=nowhere"},
		"settle is not from 0s to 5s":                                   {"--settle=6s"},
		"invalid argument":                                              {"--log-level=loud"},
		"cluster: the kubeconfig cannot be used":                        {"--kubeconfig=missing.yaml"},
	} {
		t.Run(message, func(t *testing.T) {
			got := execute(t, nil, nil, append([]string{"serve", "--server=http://127.0.0.1:1"}, args...)...)
			require.Equal(t, 2, got.code, got.err)
			require.Contains(t, got.err, message)
			require.Empty(t, got.out)
		})
	}
}
