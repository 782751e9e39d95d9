package server

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// metrics has no label whose values a caller chooses.
type metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec
	durations    *prometheus.HistogramVec
	bodies       prometheus.Histogram
	inFlight     prometheus.Gauge
	reassertions prometheus.Counter
	conflicts    prometheus.Counter
	takeOvers    prometheus.Counter
	panics       prometheus.Counter
	reloads      *prometheus.CounterVec
}

const prefix = "publish_metadata_"

func newMetrics() *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: prefix + name, Help: help})
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "requests_total",
			Help: "Requests to publish, by outcome and HTTP status; 499 is a caller that did not wait for the answer."}, []string{"outcome", "code"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + "request_duration_seconds",
			Help:    "How long requests took, the settle window included, by outcome.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 1.25, 1.5, 2, 3, 5, 7.5, 10}}, []string{"outcome"}),
		bodies: prometheus.NewHistogram(prometheus.HistogramOpts{Name: prefix + "request_body_bytes",
			Help: "The size of the bodies that were read whole.", Buckets: prometheus.ExponentialBuckets(256, 4, 8)}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: prefix + "requests_in_flight", Help: "Requests that run."}),

		reassertions: counter("reassertions_total", "How often a publication was undone within its settle window, and done again."),
		conflicts:    counter("conflicts_total", "Requests refused because somebody else owns an entry."),
		takeOvers:    counter("takeovers_total", "Entries taken over from others."),
		panics:       counter("panics_total", "Requests that made the service panic."),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + "certificate_reloads_total",
			Help: "Changed certificate files, by whether they could be used."}, []string{"result"}),
	}
	for _, result := range []string{"success", "failure"} {
		m.reloads.WithLabelValues(result)
	}
	m.registry.MustRegister(m.requests, m.durations, m.bodies, m.inFlight, m.reassertions, m.conflicts,
		m.takeOvers, m.panics, m.reloads, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// count counts an exchange that is over.
func (m *metrics) count(r reply, took time.Duration) {
	outcome := string(outcomeOf(r))
	m.requests.WithLabelValues(outcome, strconv.Itoa(r.status)).Inc()
	m.durations.WithLabelValues(outcome).Observe(took.Seconds())
	if errors.Is(r.err, fault.Conflict) {
		m.conflicts.Inc()
	}
	if times, counted := r.result.Output["reasserted"].(int64); counted {
		m.reassertions.Add(float64(times))
	}
	if taken, isList := r.result.Output["tookOver"].([]any); isList {
		m.takeOvers.Add(float64(len(taken)))
	}
}
