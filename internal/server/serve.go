package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// Listen opens the addresses of the options; Serve closes them. The error is a
// *fault.Error of kind Invalid: an address is taken, or would be served without
// TLS though it is not loopback.
func (s *Server) Listen(ctx context.Context) error {
	var err error
	if s.listener, err = listen(ctx, s.options.Address); err != nil {
		return err
	}
	if s.certificate == nil && !s.options.InsecureHTTP && !isLoopback(s.listener.Addr()) {
		_ = s.listener.Close() // nothing was taken
		return fault.New(fault.Invalid, "serve",
			"tokens would be sent in the clear: set --tls-cert-file and --tls-private-key-file, or --insecure-http, or listen on 127.0.0.1", nil)
	}
	if s.options.MetricsAddress != "" {
		if s.metricsListener, err = listen(ctx, s.options.MetricsAddress); err != nil {
			_ = s.listener.Close() // nothing was taken
			return err
		}
	}
	return nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.New(fault.Invalid, "serve", "it cannot listen on "+address+": is it taken?", err)
	}
	return listener, nil
}

func isLoopback(address net.Addr) bool {
	tcp, isTCP := address.(*net.TCPAddr)
	return isTCP && tcp.IP.IsLoopback()
}

// Addr returns where requests are taken, after Listen.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

func (s *Server) metricsAddress() string {
	if s.metricsListener == nil {
		return s.Addr().String()
	}
	return s.metricsListener.Addr().String()
}

// Serve takes requests until ctx ends. Then /readyz says no; after the delay, no
// more connections are taken, and what runs is finished within the timeout. It
// returns nil, or a *fault.Error when requests had to be cut off.
func (s *Server) Serve(ctx context.Context) error {
	defer s.callers.Close()
	lifetime, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	main := s.httpServer(lifetime, s.Handler())
	failed := make(chan error, 2)
	go func() { failed <- s.serveOn(main) }()
	servers := []*http.Server{main}
	if s.metricsListener != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", s.metrics.handler())
		other := s.httpServer(lifetime, mux)
		servers = append(servers, other)
		go func() { failed <- other.Serve(s.metricsListener) }()
	}
	s.log.Info("listening", "address", s.Addr().String(), "metricsAddress", s.metricsAddress(), "tls", s.certificate != nil)
	var broken error
	running := len(servers)
	select {
	case <-ctx.Done():
		s.stopping.Store(true)
		s.log.Info("stopping", "delay", s.options.ShutdownDelay, "timeout", s.options.ShutdownTimeout)
		s.delay(failed, &broken, &running)
	case broken = <-failed:
		running--
	}
	err := s.shutdown(lifetime, servers)
	for range running {
		if ended := <-failed; !errors.Is(ended, http.ErrServerClosed) {
			broken = ended
		}
	}
	if broken != nil {
		return fault.New(fault.Unavailable, "serve", "it cannot take connections any more", broken)
	}
	return err
}

// delay lets requests in for a while longer.
func (s *Server) delay(failed <-chan error, broken *error, running *int) {
	timer := time.NewTimer(s.options.ShutdownDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case *broken = <-failed:
		*running--
	}
}

func (s *Server) serveOn(server *http.Server) error {
	if s.certificate == nil {
		return server.Serve(s.listener)
	}
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.certificate.get}
	return server.ServeTLS(s.listener, "", "")
}

// shutdown finishes what runs, or cuts it off after the timeout.
func (s *Server) shutdown(lifetime context.Context, servers []*http.Server) error {
	ctx, cancel := context.WithTimeout(lifetime, s.options.ShutdownTimeout)
	defer cancel()
	var errs []error
	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			errs = append(errs, err, server.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fault.New(fault.Timeout, "serve", "requests ran longer than --shutdown-timeout, and were cut off", err)
	}
	s.log.Info("stopped")
	return nil
}

func (s *Server) httpServer(lifetime context.Context, handler http.Handler) *http.Server {
	longest := readHeaderTimeout + s.options.RequestTimeout + grace
	return &http.Server{
		Handler:           handler,
		BaseContext:       func(net.Listener) context.Context { return lifetime },
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		MaxHeaderBytes:    maxHeader,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       longest,
		WriteTimeout:      longest,
		IdleTimeout:       idleTimeout,
	}
}
