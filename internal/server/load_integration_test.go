//go:build integration

package server_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
	"github.com/kargo-steps/publish-metadata/internal/server"
)

// The load: callers at once, over Stages of one project, requests in a round.
const (
	callers = 64
	stages  = 200
	round   = 3000
)

// load is one way to publish, and how long it took each time.
type load struct {
	publish func(stage, url string) error
	took    []time.Duration
	spent   time.Duration
}

// play publishes a round.
func (l *load) play(b *testing.B, edition int) {
	took := make([]time.Duration, round)
	var next atomic.Int64
	var group sync.WaitGroup
	began := time.Now()
	for range callers {
		group.Go(func() {
			for n := next.Add(1) - 1; n < round; n = next.Add(1) - 1 {
				sent := time.Now()
				err := l.publish(fmt.Sprintf("stage-%d", n%stages), fmt.Sprintf("https://a.example.com/%d/%d", edition, n))
				if took[n] = time.Since(sent); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	l.spent += time.Since(began)
	l.took = append(l.took, took...)
}

func (l *load) at(quantile float64) time.Duration {
	slices.Sort(l.took)
	return l.took[int(float64(len(l.took)-1)*quantile)]
}

func (l *load) report(b *testing.B, name string) {
	b.ReportMetric(float64(len(l.took))/l.spent.Seconds(), name+"-req/s")
	b.ReportMetric(float64(l.at(.5).Microseconds())/1000, name+"-p50-ms")
	b.ReportMetric(float64(l.at(.99).Microseconds())/1000, name+"-p99-ms")
}

// BenchmarkLoad compares the service with a GET and a raw server-side apply of
// the same metadata by as many callers. Rounds alternate, without settling.
func BenchmarkLoad(b *testing.B) {
	straight := &load{publish: publishStraight(b)}
	served := &load{publish: publishServed(b)}
	straight.play(b, 0) // to warm up
	served.play(b, 0)
	straight.took, straight.spent, served.took, served.spent = nil, 0, nil, 0
	for edition := 1; b.Loop(); edition++ {
		straight.play(b, edition)
		served.play(b, edition)
	}
	straight.report(b, "straight")
	served.report(b, "served")
	b.ReportMetric(float64(served.at(.5))/float64(straight.at(.5)), "ratio-p50")
	b.ReportMetric(float64(served.at(.99))/float64(straight.at(.99)), "ratio-p99")
	b.ReportMetric(0, "ns/op") // of a round, which says nothing
}

func projectOfStages(b *testing.B) (name, token string) {
	name, token = project(b, rights...)
	for n := range stages {
		control.CreateStage(b, name, fmt.Sprintf("stage-%d", n))
	}
	return name, token
}

// provenance is what the service applies too.
const provenance = `"provenance": {"publish": {"stage": %q, "step": "publish", "rollback": false, "entries": {"links": ["a"]}}}`

// publishStraight asks the API server itself, as bytes.
func publishStraight(b *testing.B) func(stage, url string) error {
	project, token := projectOfStages(b)
	config := control.AnonymousConfig()
	config.BearerToken = token
	client, err := rest.HTTPClientFor(config)
	require.NoError(b, err)
	ask := func(method, url string, body []byte) error {
		request, err := http.NewRequestWithContext(b.Context(), method, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/apply-patch+yaml")
		request.Header.Set("Accept", "application/json")
		return do(client, request)
	}
	return func(stage, url string) error {
		at := config.Host + "/apis/" + controlplane.KargoAPIVersion + "/namespaces/" + project + "/stages/" + stage
		if err := ask(http.MethodGet, at, nil); err != nil {
			return err
		}
		body := fmt.Sprintf(`{"apiVersion": %q, "kind": "Stage", "metadata": {"name": %q, "namespace": %q}, "status": {"metadata": {"links": {"a": {"url": %q}}, %s}}}`,
			controlplane.KargoAPIVersion, stage, project, url, fmt.Sprintf(provenance, stage))
		return ask(http.MethodPatch, at+"/status?fieldManager=straight&force=true", []byte(body))
	}
}

// publishServed asks the service, over TLS.
func publishServed(b *testing.B) func(stage, url string) error {
	project, token := projectOfStages(b)
	r := serveTLS(b)
	return func(stage, url string) error {
		body := strings.Replace(publishTo(project, url), `"stage": "test"`, `"stage": "`+stage+`"`, 1)
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, r.url+"/v1/publish", strings.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		return do(r.client, request)
	}
}

func serveTLS(b *testing.B) *running {
	folder, trusted := b.TempDir(), x509.NewCertPool()
	certificate, key := keyPair(b, 1)
	trusted.AppendCertsFromPEM(certificate)
	mount{folder}.put(b, "..1", certificate, key)
	r := start(b, control.AdminConfig(), func(o *server.Options) {
		o.CertFile, o.KeyFile = filepath.Join(folder, "..1", "tls.crt"), filepath.Join(folder, "..1", "tls.key")
		o.Log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	})
	r.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers, TLSClientConfig: &tls.Config{RootCAs: trusted}}}
	return r
}

// do sends a request, and reads the answer.
func do(client *http.Client, request *http.Request) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // only read
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		return fmt.Errorf("%d: %s", response.StatusCode, text)
	}
	return err
}

// BenchmarkFlat shows what is left after many requests: run it with
// -benchtime=50000x. Heap and goroutines are those of the whole test process,
// after a collection, at a fifth of the requests and at the end.
func BenchmarkFlat(b *testing.B) {
	publish := publishServed(b)
	var next, errs atomic.Int64
	play := func(until int64) {
		var group sync.WaitGroup
		for range callers {
			group.Go(func() {
				for n := next.Add(1); n <= until; n = next.Add(1) {
					if publish(fmt.Sprintf("stage-%d", n%stages), fmt.Sprintf("https://a.example.com/%d", n)) != nil {
						errs.Add(1)
					}
				}
			})
		}
		group.Wait()
		next.Store(until)
	}
	measure := func() (heap, goroutines float64) {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return float64(stats.HeapAlloc) / (1 << 20), float64(runtime.NumGoroutine())
	}
	b.ResetTimer()
	play(int64(b.N) / 5)
	heap, goroutines := measure()
	b.ReportMetric(heap, "heap-early-MiB")
	b.ReportMetric(goroutines, "goroutines-early")
	play(int64(b.N))
	heap, goroutines = measure()
	b.ReportMetric(heap, "heap-late-MiB")
	b.ReportMetric(goroutines, "goroutines-late")
	require.Zero(b, errs.Load())
}
