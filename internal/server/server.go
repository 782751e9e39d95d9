package server

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/kargo-steps/publish-metadata/internal/publish/cluster"
	"github.com/kargo-steps/publish-metadata/step"
)

// Server publishes what requests ask for, with the rights of their callers.
type Server struct {
	options Options
	log     *slog.Logger
	runner  *step.Runner
	callers *cluster.Callers
	metrics *metrics
	ready   readiness
	// slots holds an element for each request that runs.
	slots       chan struct{}
	certificate *certificate // nil serves plain HTTP
	stopping    atomic.Bool

	listener, metricsListener net.Listener
}

// New returns a Server that does not listen yet. The error is a *fault.Error of
// kind Invalid: the options, or the certificate files, cannot be used.
func New(options Options) (*Server, error) {
	if err := options.validate(); err != nil {
		return nil, err
	}
	s := &Server{options: options, log: options.Log, runner: options.Runner, metrics: newMetrics()}
	if s.log == nil {
		s.log = slog.New(slog.NewJSONHandler(io.Discard, nil))
	}
	s.slots = make(chan struct{}, options.MaxConcurrent)
	var err error
	if s.runner == nil {
		if s.runner, err = step.NewRunner(nil); err != nil {
			return nil, err
		}
	}
	if s.callers, err = cluster.NewCallers(options.Cluster); err != nil {
		return nil, err
	}
	s.ready.check = s.callers.Reachable
	if options.CertFile != "" {
		s.certificate, err = loadCertificate(options.CertFile, options.KeyFile, s.certificateFailed)
	}
	return s, err
}

// Handler returns what is served at Options.Address.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/publish", s.publish)
	mux.HandleFunc("/v1/publish", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		problemReply(classNotAllowed.refuse("request", "its method is not POST: set method: POST")).write(w)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		problemReply(classNoSuchPath.refuse("request", "its path is not served: publish to /v1/publish")).write(w)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeText(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", s.readyz)
	if s.options.MetricsAddress == "" {
		mux.Handle("GET /metrics", s.metrics.handler())
	}
	return mux
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // who asked may be gone
}
