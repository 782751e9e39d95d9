package server

import (
	"log/slog"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/step"
)

// Options say how a Server is run. Begin with DefaultOptions.
type Options struct {
	// Cluster is how the API server is reached and verified. Its credentials
	// are not used.
	Cluster *rest.Config
	// Runner has the schemas and the settle window; its own client is not used.
	// nil is a Runner with the defaults of package step.
	Runner *step.Runner
	// Log takes one line for each request. nil drops them.
	Log *slog.Logger

	// Address is where requests are taken, MetricsAddress where /metrics is
	// served instead, as plain HTTP, unless it is "".
	Address, MetricsAddress string
	// CertFile and KeyFile are read again when they change. Without them, plain
	// HTTP is served on loopback, and elsewhere with InsecureHTTP alone.
	CertFile, KeyFile string
	InsecureHTTP      bool

	// MaxConcurrent is how many requests run at once; more are turned away.
	MaxConcurrent int
	// RequestTimeout is the deadline of a request, its body and the settle
	// window included.
	RequestTimeout time.Duration
	// ShutdownDelay is how long requests are still taken after /readyz has said
	// no; ShutdownTimeout is how long those that run may take after that.
	ShutdownDelay, ShutdownTimeout time.Duration
}

// DefaultOptions returns the defaults of serve. A request ends before the 10 s
// after which Kargo's http step gives up on it, and a stopping server takes
// requests until the endpoints of a Service have been told of it.
func DefaultOptions() Options {
	return Options{
		Address:         ":8443",
		MaxConcurrent:   128,
		RequestTimeout:  9 * time.Second,
		ShutdownDelay:   5 * time.Second,
		ShutdownTimeout: 15 * time.Second,
	}
}

// The limits of a connection that no flag changes.
const (
	maxBody           = 2 << 20
	maxHeader         = 32 << 10
	readHeaderTimeout = 5 * time.Second
	idleTimeout       = 90 * time.Second
	// grace is what reading and writing may take beyond a request's deadline.
	grace = 5 * time.Second
)

func (o Options) validate() error {
	misuse := func(message string) error { return fault.New(fault.Invalid, "serve", message, nil) }
	switch {
	case o.Cluster == nil:
		return misuse("there is no API server: set --server or --kubeconfig")
	case (o.CertFile == "") != (o.KeyFile == ""):
		return misuse("--tls-cert-file and --tls-private-key-file go together")
	case o.CertFile != "" && o.InsecureHTTP:
		return misuse("--insecure-http serves no TLS: leave the certificate out")
	case o.MaxConcurrent <= 0:
		return misuse("--max-concurrent has to be more than 0")
	case o.RequestTimeout <= 0 || o.ShutdownTimeout <= 0:
		return misuse("--request-timeout and --shutdown-timeout have to be more than 0")
	case o.ShutdownDelay < 0:
		return misuse("--shutdown-delay is less than 0")
	}
	return nil
}
