package server_test

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/server"
)

func within(timeout time.Duration) func(*server.Options) {
	return func(o *server.Options) { o.RequestTimeout = timeout }
}

// reset ends a connection without an answer.
func reset(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = connection.(*net.TCPConn).SetLinger(0) // so that closing it is a reset
		_ = connection.Close()
	}
}

func status(code int, retryAfter string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		refuse(w, code, "")
	}
}

// faulty is an API server that does something else than answer.
type faulty struct {
	fault   func(http.ResponseWriter, *http.Request)
	when    func(r *http.Request, nth int64) bool
	timeout time.Duration
	code    int
	message string
}

func faults() map[string]faulty {
	resets := func(w http.ResponseWriter, _ *http.Request) { reset(w) }
	hangs := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	breaksOff := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"kind": "Stage"`))
	}
	always := func(*http.Request, int64) bool { return true }
	once := func(_ *http.Request, nth int64) bool { return nth == 1 }
	writes := func(r *http.Request, _ int64) bool { return r.Method == http.MethodPatch }
	return map[string]faulty{
		"throttles once, and is asked again":             {status(429, "1"), once, 9 * time.Second, 200, "published"},
		"is away for a second, and is asked again":       {status(503, "1"), once, 9 * time.Second, 200, "published"},
		"resets a read, which is sent again":             {resets, once, 9 * time.Second, 200, "published"},
		"throttles until the deadline":                   {status(429, "1"), always, 300 * time.Millisecond, 504, "before anything was published"},
		"throttles and does not say until when":          {status(429, ""), always, 9 * time.Second, 503, "answered 429"},
		"fails to read":                                  {status(500, ""), always, 9 * time.Second, 503, "answered 500 to get stages in namespace demo"},
		"fails to write":                                 {status(500, ""), writes, 9 * time.Second, 503, "answered 500 to patch stages/status in namespace demo"},
		"is not available":                               {status(503, ""), always, 9 * time.Second, 503, "answered 503"},
		"never answers a read":                           {hangs, always, 200 * time.Millisecond, 504, "before anything was published"},
		"never answers a write":                          {hangs, writes, 200 * time.Millisecond, 504, "before anything was published"},
		"resets every read":                              {resets, always, 300 * time.Millisecond, 504, "before anything was published"},
		"resets a write, which may have been done":       {resets, writes, 9 * time.Second, 503, "could not be reached, or did not answer in full"},
		"breaks off in the middle of an answer":          {breaksOff, always, 9 * time.Second, 503, "could not be reached, or did not answer in full"},
		"says that the metadata would be too large":      {status(413, ""), writes, 9 * time.Second, 413, "publish less"},
		"does not know Kargo's resources":                {status(404, ""), always, 9 * time.Second, 404, "install Kargo's CRDs"},
		"finds fault with what is applied":               {status(422, ""), writes, 9 * time.Second, 422, "refuses to patch stages/status"},
		"says that the Stage changed, until the dealine": {status(409, ""), writes, 300 * time.Millisecond, 504, "before anything was published"},
	}
}

func TestWhatTheAPIServerDoes(t *testing.T) {
	for name, test := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := newFakeAPI(t)
			var requests atomic.Int64
			api.before = func(w http.ResponseWriter, r *http.Request) bool {
				if !test.when(r, requests.Add(1)) {
					return false
				}
				test.fault(w, r)
				return true
			}
			r := start(t, api.config(), within(test.timeout))
			began := time.Now()
			a := r.post(t, goodToken, linkTo("https://a.example.com"))
			require.Equal(t, test.code, a.code, a.text)
			assert.Contains(t, a.Message, test.message)
			assert.Less(t, time.Since(began), test.timeout+time.Second)
			assert.NotContains(t, a.text, canary, "the API server's text is not passed on")
			retryable := test.code == 503 || test.code == 504
			assert.Equal(t, retryable, a.Retryable)
			assert.Equal(t, test.code == 503, a.header.Get("Retry-After") == "1")
			if test.code != 200 {
				assert.Equal(t, map[bool]string{true: "Errored", false: "Failed"}[retryable], a.Outcome)
			}
		})
	}
}

func TestTheRetryOfWhatWasAppliedIsNoChange(t *testing.T) {
	t.Run("when the caller did not get the answer", func(t *testing.T) {
		api := newFakeAPI(t)
		r := start(t, api.config())
		ctx, cancel := context.WithCancel(t.Context())
		api.applied = cancel
		_, err := r.try(ctx, goodToken, linkTo("https://a.example.com"))
		require.ErrorIs(t, err, context.Canceled)
		require.NotEmpty(t, api.links())
		api.applied = nil
		require.Equal(t, false, r.post(t, goodToken, linkTo("https://a.example.com")).Output["changed"])
	})
	t.Run("when the service was killed before it got the answer", func(t *testing.T) {
		api := newFakeAPI(t)
		killed := start(t, api.config(), func(o *server.Options) { o.ShutdownTimeout = time.Millisecond })
		api.applied = func() {
			killed.stop()
			assert.ErrorContains(t, <-killed.ended, "cut off")
		}
		_, err := killed.try(t.Context(), goodToken, linkTo("https://a.example.com"))
		require.Error(t, err)
		require.NotEmpty(t, api.links())
		api.applied = nil
		a := start(t, api.config()).post(t, goodToken, linkTo("https://a.example.com"))
		require.Equal(t, 200, a.code)
		require.Equal(t, false, a.Output["changed"])
	})
}

func TestACallerThatIsGoneEndsTheCall(t *testing.T) {
	api := newFakeAPI(t)
	asked, ended := make(chan struct{}), make(chan struct{})
	api.before = func(_ http.ResponseWriter, r *http.Request) bool {
		close(asked)
		<-r.Context().Done()
		close(ended)
		return true
	}
	r := start(t, api.config())
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err := r.try(ctx, goodToken, linkTo("https://a.example.com"))
	require.ErrorIs(t, err, context.Canceled)
	<-ended
	eventually(t, "the request is logged", func() bool { return len(r.logs.lines(t, "publish")) == 1 })
	require.InDelta(t, 499, r.logs.lines(t, "publish")[0]["code"], 0)
	require.Equal(t, "1", r.metric(t, `publish_metadata_requests_total{code="499",outcome="Errored"}`))
}

func TestWhatWasDoneIsInAProblemToo(t *testing.T) {
	api := newFakeAPI(t)
	r := start(t, api.config(), within(400*time.Millisecond))
	a := r.post(t, goodToken, `{`+promotion+`, "settle": "5s", "metadata": [{"key": "links", "value": {"a": {"url": "https://a.example.com"}}}]}`)
	require.Equal(t, 503, a.code, a.text)
	assert.Contains(t, a.Message, "had held for 5s")
	assert.True(t, a.Retryable)
	assert.Equal(t, "1", a.header.Get("Retry-After"))
	assert.Equal(t, map[string]any{"links": []any{"a"}}, a.Output["published"])
}
