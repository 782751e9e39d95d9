package server_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/server"
)

// TestARollingUpdateLosesNoRequest plays a Service with two pods, of which the
// first is stopped: its callers follow its /readyz, as endpoints do, a little late.
func TestARollingUpdateLosesNoRequest(t *testing.T) {
	api := newFakeAPI(t)
	first := start(t, api.config(), func(o *server.Options) { o.ShutdownDelay = time.Second })
	second := start(t, api.config())
	var pod atomic.Pointer[running]
	pod.Store(first)
	stop := make(chan struct{})
	var group sync.WaitGroup
	var byFirst, bySecond, failed atomic.Int64
	for range 8 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				to := pod.Load()
				a, err := to.try(t.Context(), goodToken, linkTo("https://a.example.com"))
				switch {
				case err != nil || a.code != http.StatusOK:
					t.Log(err, a.text)
					failed.Add(1)
				case to == first:
					byFirst.Add(1)
				default:
					bySecond.Add(1)
				}
			}
		})
	}
	eventually(t, "the first pod serves", func() bool { return byFirst.Load() > 50 })
	first.stop()
	eventually(t, "the first pod is not ready", func() bool { return first.get(t, "/readyz").code == http.StatusServiceUnavailable })
	before := byFirst.Load()
	eventually(t, "the first pod goes on serving", func() bool { return byFirst.Load() > before+20 })
	pod.Store(second)
	require.NoError(t, <-first.ended)
	eventually(t, "the second pod serves", func() bool { return bySecond.Load() > 50 })
	close(stop)
	group.Wait()
	require.Zero(t, failed.Load())
}

// blocked is an API server that does not answer before it is released.
func blocked(t testing.TB) (api *fakeAPI, asked, release chan struct{}) {
	api = newFakeAPI(t)
	asked, release = make(chan struct{}), make(chan struct{})
	var once sync.Once
	api.before = func(_ http.ResponseWriter, r *http.Request) bool {
		once.Do(func() { close(asked) })
		select {
		case <-release:
		case <-r.Context().Done():
		}
		return false
	}
	return api, asked, release
}

func TestWhatRunsIsFinished(t *testing.T) {
	api, asked, release := blocked(t)
	r := start(t, api.config())
	answered := make(chan answer, 1)
	go func() {
		a, err := r.try(t.Context(), goodToken, linkTo("https://a.example.com"))
		assert.NoError(t, err)
		answered <- a
	}()
	<-asked
	r.stop()
	eventually(t, "it stops", func() bool { return len(r.logs.lines(t, "stopping")) == 1 })
	eventually(t, "no more connections are taken", func() bool {
		_, err := r.try(t.Context(), goodToken, linkTo("https://a.example.com"))
		return err != nil
	})
	close(release)
	require.Equal(t, 200, (<-answered).code)
	require.NoError(t, <-r.ended)
	require.NotEmpty(t, api.links())
}

func TestTheShutdownIsBounded(t *testing.T) {
	api, asked, _ := blocked(t)
	r := start(t, api.config(), func(o *server.Options) { o.ShutdownTimeout = 50 * time.Millisecond })
	answered := make(chan error, 1)
	go func() {
		_, err := r.try(t.Context(), goodToken, linkTo("https://a.example.com"))
		answered <- err
	}()
	<-asked
	r.stop()
	select {
	case err := <-r.ended:
		require.ErrorContains(t, err, "--shutdown-timeout")
	case <-time.After(5 * time.Second):
		require.Fail(t, "it does not stop")
	}
	require.Error(t, <-answered)
}

func TestMetricsHaveAnAddressOfTheirOwn(t *testing.T) {
	options := server.DefaultOptions()
	options.Cluster = newFakeAPI(t).config()
	options.Address, options.MetricsAddress = "127.0.0.1:0", "127.0.0.1:1:2"
	s, err := server.New(options)
	require.NoError(t, err)
	require.ErrorContains(t, s.Listen(t.Context()), "127.0.0.1:1:2")

	r := start(t, newFakeAPI(t).config(), func(o *server.Options) { o.MetricsAddress = "127.0.0.1:0" })
	require.Equal(t, 404, r.get(t, "/metrics").code)
	require.Equal(t, 200, r.get(t, "/healthz").code)
	other := &running{url: "http://" + r.logs.lines(t, "listening")[0]["metricsAddress"].(string), client: r.client}
	require.Equal(t, "0", other.metric(t, "publish_metadata_panics_total"))
	require.Equal(t, 404, other.get(t, "/v1/publish").code)
}
