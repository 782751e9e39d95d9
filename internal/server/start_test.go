package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/server"
	"github.com/kargo-steps/publish-metadata/schema"
	"github.com/kargo-steps/publish-metadata/step"
)

// logs are lines that a Server has written.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// lines returns the lines with a message, decoded.
func (l *logs) lines(t testing.TB, message string) (lines []map[string]any) {
	t.Helper()
	for text := range strings.Lines(l.String()) {
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &line))
		if line["msg"] == message {
			lines = append(lines, line)
		}
	}
	return lines
}

// running is a Server that serves.
type running struct {
	url    string
	client *http.Client
	logs   *logs
	// stop begins the shutdown, ended has its error.
	stop  context.CancelFunc
	ended chan error
}

// start serves on loopback, without settling and with a short shutdown. The test
// ends when the Server has.
func start(t testing.TB, config *rest.Config, changes ...func(*server.Options)) *running {
	t.Helper()
	runner, err := step.NewRunner(nil, step.WithSettle(0))
	require.NoError(t, err)
	r := &running{logs: &logs{}, ended: make(chan error, 1), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	options := server.DefaultOptions()
	options.Cluster, options.Runner = config, runner
	options.Address, options.ShutdownDelay = "127.0.0.1:0", 0
	options.Log = slog.New(slog.NewJSONHandler(r.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, change := range changes {
		change(&options)
	}
	s, err := server.New(options)
	require.NoError(t, err)
	require.NoError(t, s.Listen(t.Context()))
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	r.stop = stop
	go func() { r.ended <- s.Serve(ctx); close(r.ended) }()
	r.url = "http://" + s.Addr().String()
	if options.CertFile != "" {
		r.url = "https://" + s.Addr().String()
	}
	t.Cleanup(func() {
		stop()
		r.client.CloseIdleConnections()
		for range r.ended { // until it is closed
		}
	})
	return r
}

// answer is what a request was answered.
type answer struct {
	code   int
	header http.Header
	text   string
	// The members of results and problems.
	Type      string          `json:"type"`
	Title     string          `json:"title"`
	Status    any             `json:"status"`
	Message   string          `json:"message"`
	Outcome   string          `json:"outcome"`
	Retryable bool            `json:"retryable"`
	Problems  schema.Problems `json:"problems"`
	Output    map[string]any  `json:"output"`
}

// post sends a body with a token; headers are pairs, the value "" removes one.
func (r *running) post(t testing.TB, token, body string, headers ...string) answer {
	t.Helper()
	a, err := r.try(t.Context(), token, body, headers...)
	require.NoError(t, err)
	return a
}

func (r *running) try(ctx context.Context, token, body string, headers ...string) (a answer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/publish", strings.NewReader(body))
	if err != nil {
		return a, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if request.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			request.Header.Del(headers[i])
		}
	}
	return r.send(request)
}

func (r *running) send(request *http.Request) (a answer, err error) {
	response, err := r.client.Do(request)
	if err != nil {
		return a, err
	}
	defer func() { _ = response.Body.Close() }() // only read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return a, err
	}
	a = answer{code: response.StatusCode, header: response.Header, text: string(body)}
	if strings.HasSuffix(strings.Split(response.Header.Get("Content-Type"), ";")[0], "json") {
		err = json.Unmarshal(body, &a)
	}
	return a, err
}

// get returns what another path serves.
func (r *running) get(t testing.TB, path string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+path, nil)
	require.NoError(t, err)
	a, err := r.send(request)
	require.NoError(t, err)
	return a
}

// metric returns a line of /metrics without its value's name, "" if there is none.
func (r *running) metric(t testing.TB, name string) string {
	t.Helper()
	for line := range strings.Lines(r.get(t, "/metrics").text) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// eventually waits for what has to come.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, 10*time.Second, 5*time.Millisecond, what)
}
