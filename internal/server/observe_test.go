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

	"github.com/kargo-steps/publish-metadata/internal/cases"
	"github.com/kargo-steps/publish-metadata/internal/publish"
)

func TestReadyIsWhetherTheAPIServerAnswers(t *testing.T) {
	for code, ready := range map[int]int{200: 200, 401: 200, 403: 200, 429: 200, 404: 503, 500: 503, 503: 503} {
		api := newFakeAPI(t)
		var path atomic.Value
		api.before = func(w http.ResponseWriter, r *http.Request) bool {
			path.Store(r.URL.Path + r.Header.Get("Authorization"))
			w.Header().Set("Retry-After", "1")
			refuse(w, code, metav1.StatusReasonUnknown)
			return true
		}
		r := start(t, api.config())
		require.Equal(t, ready, r.get(t, "/readyz").code, code)
		require.Equal(t, ready, r.get(t, "/readyz").code, code)
		require.Equal(t, "/version", path.Load(), "it is asked without credentials")
		require.EqualValues(t, 1, api.requests.Load(), "probes do not burden the API server")
	}
}

func TestReadyWhileTheAPIServerIsAway(t *testing.T) {
	api := newFakeAPI(t)
	var hangs atomic.Bool
	api.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if hangs.Load() {
			<-r.Context().Done()
		}
		return false
	}
	r := start(t, api.config())
	hangs.Store(true)
	began := time.Now()
	require.Equal(t, 503, r.get(t, "/readyz").code)
	require.Less(t, time.Since(began), 5*time.Second)
	require.Equal(t, 200, r.get(t, "/healthz").code)
	hangs.Store(false)
	eventually(t, "it is ready when the API server is back", func() bool { return r.get(t, "/readyz").code == 200 })
}

func TestARequestIsLoggedAndCounted(t *testing.T) {
	api := newFakeAPI(t)
	r := start(t, api.config())
	body := strings.Replace(linkTo("https://"+canary+".example.com"), `"config": {`, `"config": {"producer": "deploy", `, 1)
	require.Equal(t, 200, r.post(t, goodToken, body).code)
	eventually(t, "the request is logged", func() bool { return len(r.logs.lines(t, "publish")) == 1 })
	line := r.logs.lines(t, "publish")[0]
	delete(line, "time")
	assert.Positive(t, line["duration"])
	delete(line, "duration")
	assert.Equal(t, map[string]any{
		"level": "INFO", "msg": "publish", "project": "demo", "stage": "test", "promotion": "test.01", "step": "publish",
		"producer": "deploy", "outcome": "Succeeded", "reason": "", "code": 200.0, "bytes": float64(len(body)),
	}, line)
	assert.Equal(t, "1", r.metric(t, `publish_metadata_requests_total{code="200",outcome="Succeeded"}`))
	assert.Equal(t, "1", r.metric(t, `publish_metadata_request_duration_seconds_count{outcome="Succeeded"}`))
	assert.Equal(t, "1", r.metric(t, `publish_metadata_request_body_bytes_count`))
	assert.Equal(t, "0", r.metric(t, `publish_metadata_requests_in_flight`))
	assert.NotEmpty(t, r.metric(t, `go_goroutines`))
}

func TestConflictsTakeOversAndReassertionsAreCounted(t *testing.T) {
	api := newFakeAPI(t)
	r := start(t, api.config())
	foreign := cases.ApplyBody(map[string]any{"links": map[string]any{"a": map[string]any{"url": "https://" + canary + ".example.com"}}})
	_, err := api.store.Apply(t.Context(), cases.Target, foreign, publish.ApplyOptions{Manager: "argocd"})
	require.NoError(t, err)
	a := r.post(t, goodToken, linkTo("https://a.example.com"))
	require.Equal(t, 409, a.code)
	assert.Contains(t, a.Message, "argocd")
	assert.NotContains(t, a.text, canary)
	body := strings.Replace(linkTo("https://a.example.com"), `"key": "links"`, `"key": "links", "onConflict": "takeOver"`, 1)
	body = strings.Replace(body, `"config": {`, `"config": {"settle": "1s", `, 1)
	var undone atomic.Bool
	api.before = func(_ http.ResponseWriter, request *http.Request) bool {
		if request.Method == http.MethodGet && api.applies.Load() == 1 && undone.CompareAndSwap(false, true) {
			patch := `[{"op": "remove", "path": "/status/metadata"}]`
			_, err := api.store.Patch(request.Context(), cases.Target, []byte(patch), "kargo")
			assert.NoError(t, err)
		}
		return false
	}
	a = r.post(t, goodToken, body)
	require.Equal(t, 200, a.code, a.text)
	assert.InDelta(t, 1, a.Output["reasserted"], 0)
	assert.Equal(t, "1", r.metric(t, "publish_metadata_conflicts_total"))
	assert.Equal(t, "1", r.metric(t, "publish_metadata_takeovers_total"))
	assert.Equal(t, "1", r.metric(t, "publish_metadata_reassertions_total"))
}

func TestNoTokenOrValueIsToldAnywhere(t *testing.T) {
	api := newFakeAPI(t)
	r := start(t, api.config(), within(500*time.Millisecond))
	long := strings.Repeat("n", 5000)
	bodies := []string{
		linkTo("https://" + canary + ".example.com"), linkTo("javascript:" + canary), `"` + canary, "{" + canary,
		`{` + promotion + `, "outputs": {"a": {"b": "` + canary + `"}}, "metadata": [{"key": "links", "fromExpression": "int(outputs.a.b)"}]}`,
		`{"context": {"project": "` + long + `", "stage": 1, "meta": []}}`,
	}
	for _, token := range []string{goodToken, forbiddenToken, canary, canary + "?"} {
		for _, body := range bodies {
			a := r.post(t, token, body)
			if a.code != 200 {
				assert.NotContains(t, a.text, canary)
			}
			assert.NotContains(t, a.text, token)
		}
	}
	api.before = func(w http.ResponseWriter, _ *http.Request) bool { reset(w); return true }
	assert.NotContains(t, r.post(t, canary, bodies[0]).text, canary)
	metrics := r.get(t, "/metrics").text
	for _, secret := range []string{canary, goodToken, forbiddenToken, long[:300]} {
		assert.NotContains(t, metrics, secret)
		assert.NotContains(t, r.logs.String(), secret)
	}
}
