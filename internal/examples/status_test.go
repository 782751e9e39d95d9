package examples_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/server"
)

// outage is an API server that is away for a while.
type outage struct {
	*api
	// fails is how many requests it fails, with answer.
	fails  atomic.Int64
	answer func(w http.ResponseWriter, r *http.Request)
}

func newOutage(t *testing.T, fails int64, answer func(w http.ResponseWriter, r *http.Request)) *outage {
	o := &outage{api: newAPI(t), answer: answer}
	o.fails.Store(fails)
	o.instead = func(w http.ResponseWriter, r *http.Request) bool {
		failing := o.fails.Add(-1) >= 0
		if failing {
			o.answer(w, r)
		}
		return failing
	}
	return o
}

const forEver = 1 << 40

func refusing(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { refuse(w, code) }
}

func hanging(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

var terminal = map[string]struct {
	api    func(*testing.T, *outage)
	change func(p *promotion, step *promotionStep)
	says   []string
}{
	"400, the body cannot be read": {nil, func(_ *promotion, s *promotionStep) { s.Config["body"] = `{"context": ` },
		[]string{"HTTP (400)", "body"}},
	"400, the whole body is quoted": {nil, func(_ *promotion, s *promotionStep) { s.Config["body"] = `"{}"` },
		[]string{"HTTP (400)", "wrapped in quotes"}},
	"401, there is no Secret": {nil, func(p *promotion, _ *promotionStep) { p.secrets = nil },
		[]string{"HTTP (401)", "bearer token", "secret("}},
	"401, the token has expired": {func(_ *testing.T, o *outage) { o.answer = refusing(401) }, nil, []string{"HTTP (401)"}},
	"403, the token has no right": {func(_ *testing.T, o *outage) { o.answer = refusing(403) }, nil,
		[]string{"HTTP (403)", "may not get stages in namespace demo"}},
	"404, there is no such Stage": {nil, func(p *promotion, _ *promotionStep) { p.stage = "nope" },
		[]string{"HTTP (404)", "Stage demo/nope"}},
	"404, the server has a path": {nil, func(_ *promotion, s *promotionStep) { s.Config["url"] = inCluster + "/v2/publish" },
		[]string{"HTTP (404)", "/v1/publish"}},
	"405, the method is another": {nil, func(_ *promotion, s *promotionStep) { s.Config["method"] = "PUT" },
		[]string{"HTTP (405)", "POST"}},
	"409, somebody else owns the entry": {func(t *testing.T, o *outage) { require.NoError(t, o.own(t.Context())) }, nil,
		[]string{"HTTP (409)", "/status/metadata/links/argocd: owned by", "argocd-controller"}},
	"409, the promotion is not the current one": {nil, func(p *promotion, _ *promotionStep) { p.name = "test.02" },
		[]string{"HTTP (409)", "promotion test.02 is not its current one"}},
	"413, the outputs are too large": {nil, func(p *promotion, _ *promotionStep) { p.state["clone"] = strings.Repeat("x", 3<<20) },
		[]string{"HTTP (413)", "${{ {deploy: outputs.deploy} }}"}},
	"415, the content type is another": {nil, func(_ *promotion, s *promotionStep) {
		s.Config["headers"].([]any)[1].(map[string]any)["value"] = "text/yaml"
	}, []string{"HTTP (415)", "application/json"}},
	"422, the URL is no link": {nil, func(p *promotion, _ *promotionStep) {
		p.state["deploy"] = map[string]any{"url": "javascript:canary()"}
	}, []string{"HTTP (422)", "/metadata/0/fromExpression/argocd/url"}},
	"422, several problems are said at once": {nil, func(_ *promotion, s *promotionStep) {
		s.Vars = append(s.Vars, variable{"metadata", `[{key: links, value: {a: {url: x}, b: {url: y}}}]`})
	}, []string{"HTTP (422)", "/metadata/0/value/a/url: ", "/metadata/0/value/b/url: "}},
	"422, an output is missing": {nil, func(p *promotion, _ *promotionStep) { p.state["deploy"] = nil },
		[]string{"HTTP (422)", "outputs.deploy is missing"}},
}

// A failure that a retry cannot help ends the promotion at the first reply, with
// our message.
func TestTerminalStatusesEndAtOnce(t *testing.T) {
	for name, c := range terminal {
		t.Run(name, func(t *testing.T) {
			cluster := newOutage(t, 0, nil)
			if c.api != nil {
				c.api(t, cluster)
			}
			if cluster.answer != nil {
				cluster.fails.Store(forEver)
			}
			p := newPromotion(newService(t, cluster, nil))
			p.state["deploy"] = map[string]any{"url": "https://cd.example.com"}
			steps := inflate(t, publishStep(variable{"metadata", linksText}))
			if c.change != nil {
				c.change(p, &steps[0])
			}
			end := p.run(t, steps...)
			assert.Equal(t, failed, end.status, end.message)
			assert.Zero(t, p.polls+p.errors, "it was tried again")
			for _, part := range c.says {
				assert.Contains(t, end.message, part)
			}
			assert.NotContains(t, end.message, "canary")
			assert.NotContains(t, end.message, `\n`)
			assert.NotContains(t, end.message, "not a reply of publish-metadata")
			assert.NotContains(t, p.state, "ship", "outputs of the task")
		})
	}
}

// own has the entry links.argocd owned by a manager that does not give way.
func (o *outage) own(ctx context.Context) error {
	body := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": publish.APIVersion, "kind": target.Kind,
		"metadata": map[string]any{"name": target.Name, "namespace": target.Namespace},
		"status": map[string]any{"metadata": map[string]any{"links": map[string]any{
			"argocd": map[string]any{"url": "https://other.example.com"}}}},
	}}
	_, err := o.store.Apply(ctx, target, body, publish.ApplyOptions{Manager: "argocd-controller"})
	return err
}

// A failure that passes is retried, and the promotion goes on when it has passed.
func TestRetryableStatusesAreRetried(t *testing.T) {
	cases := map[string]struct {
		answer func(http.ResponseWriter, *http.Request)
		status int
	}{
		"503, the API server is away":         {refusing(503), 503},
		"503, the API server throttles":       {refusing(429), 503},
		"503, the API server is in errors":    {refusing(500), 503},
		"504, the API server does not answer": {hanging, 504},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := newOutage(t, forEver, c.answer)
			seen := &statuses{}
			p := newPromotion(seen.before(t, newService(t, cluster, func(o *server.Options) { o.RequestTimeout = 500 * time.Millisecond })))
			p.state["deploy"] = map[string]any{"url": "https://cd.example.com"}
			seen.after = func(n int) {
				if n == 2 {
					cluster.fails.Store(0)
				}
			}
			end := p.run(t, inflate(t, publishStep(variable{"metadata", linksText}))...)
			require.Equal(t, succeeded, end.status, end.message)
			assert.Equal(t, []int{c.status, c.status, 200}, seen.codes)
			assert.Contains(t, p.state["ship"], "links")
		})
	}
}

func TestAFailureOfTheServiceIsRetried(t *testing.T) {
	seen := &statuses{}
	service := newService(t, newAPI(t), func(o *server.Options) {
		o.Cluster.Proxy = func(*http.Request) (*url.URL, error) { panic("a bug") }
	})
	p := newPromotion(seen.before(t, service))
	end := p.run(t, inflate(t, publishStep())...)
	assert.Equal(t, errored, end.status)
	assert.Equal(t, "timed out after 5m", end.message)
	assert.Len(t, seen.codes, 30, "5m at 10s")
	assert.Equal(t, 500, seen.codes[0])
}

func TestAServiceThatIsAwayIsRetried(t *testing.T) {
	away := httptest.NewServer(nil)
	away.Close()
	p := newPromotion(away.URL)
	end := p.run(t, inflate(t, publishStep())...)
	assert.Equal(t, errored, end.status)
	assert.Equal(t, 5, p.errors)
}

// statuses is in front of the service, and notes what it answers.
type statuses struct {
	codes []int
	after func(n int)
}

func (s *statuses) before(t *testing.T, service string) string {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := http.NewRequestWithContext(r.Context(), r.Method, service+r.URL.Path, r.Body)
		if !assert.NoError(t, err) {
			return
		}
		request.Header = r.Header
		reply, err := http.DefaultClient.Do(request)
		if !assert.NoError(t, err) {
			return
		}
		defer func() { _ = reply.Body.Close() }()
		s.codes = append(s.codes, reply.StatusCode)
		w.Header().Set("Content-Type", reply.Header.Get("Content-Type"))
		w.WriteHeader(reply.StatusCode)
		_, err = io.Copy(w, reply.Body)
		assert.NoError(t, err)
		if s.after != nil {
			s.after(len(s.codes))
		}
	}))
	t.Cleanup(front.Close)
	return front.URL
}
