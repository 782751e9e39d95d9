package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/server"
	"github.com/kargo-steps/publish-metadata/step"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	streams Streams
	server  server.Options
	cluster clusterOptions
	settle  time.Duration
	level   slog.Level
}

const serveExample = `  # Serve in a cluster, in a pod that has no service account token.
  publish-metadata serve --tls-cert-file=/tls/tls.crt --tls-private-key-file=/tls/tls.key \
    --server=https://kubernetes.default.svc --certificate-authority=/kube-root-ca/ca.crt

  # Serve on this machine, for the cluster of the current kubeconfig.
  publish-metadata serve --address=127.0.0.1:8080 --shutdown-delay=0s

  # Publish by it.
  curl -H "Authorization: Bearer $(kubectl create token publisher -n demo)" \
    -H "Content-Type: application/json" -d @request.json http://127.0.0.1:8080/v1/publish`

func newServe(streams Streams) *cobra.Command {
	options := serveOptions{streams: streams, server: server.DefaultOptions()}
	command := &cobra.Command{
		Use:   "serve",
		Short: "Serve POST /v1/publish for the http step of Kargo",
		Long: `Serve POST /v1/publish for the http step of Kargo.

A request is a JSON document {context, outputs, config}; the members of the config
may also stand beside the context, and metadata may then be YAML text. Each request
carries the bearer token of its caller, which is what the Kubernetes API is asked
with: the service has no rights of its own, and needs none. Of the kubeconfig only
what reaches and verifies the API server is used.

/healthz, /readyz and /metrics are served too. Logs are JSON lines on stderr. On
SIGTERM or an interrupt, /readyz says no at once, requests are taken for the
shutdown delay, and what runs is finished within the shutdown timeout: a pod's
terminationGracePeriodSeconds has to be more than both together.`,
		Example: serveExample,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return options.run(command.Context())
		},
	}
	options.bind(command)
	return command
}

func (o *serveOptions) bind(command *cobra.Command) {
	flags, s := command.Flags(), &o.server
	flags.StringVar(&s.Address, "address", s.Address, "host and port to serve at")
	flags.StringVar(&s.MetricsAddress, "metrics-address", "", "host and port to serve /metrics at instead, as plain HTTP")
	flags.StringVar(&s.CertFile, "tls-cert-file", "", "file of the certificate, with its chain, in PEM; read again when it changes")
	flags.StringVar(&s.KeyFile, "tls-private-key-file", "", "file of the certificate's private key in PEM; read again when it changes")
	flags.BoolVar(&s.InsecureHTTP, "insecure-http", false, "serve plain HTTP on other addresses than loopback: tokens can then be read on the network")
	flags.IntVar(&s.MaxConcurrent, "max-concurrent", s.MaxConcurrent, "requests that run at once; more get 503 and Retry-After")
	flags.DurationVar(&s.RequestTimeout, "request-timeout", s.RequestTimeout, "deadline of a request, settling included; less than the 10s after which Kargo's http step gives up")
	flags.DurationVar(&s.ShutdownDelay, "shutdown-delay", s.ShutdownDelay, "how long requests are still taken after /readyz says no")
	flags.DurationVar(&s.ShutdownTimeout, "shutdown-timeout", s.ShutdownTimeout, "how long running requests may take after that")
	flags.DurationVar(&o.settle, "settle", step.DefaultSettle, "how long a publication to a Stage has to hold, where its config does not say")
	flags.TextVar(&o.level, "log-level", slog.LevelInfo, "least level of the log: debug, info, warn or error")
	o.cluster.bindAnonymous(flags)
}

func (o *serveOptions) run(ctx context.Context) error {
	if o.level < slog.LevelDebug { // below it, client-go logs bodies
		return fault.New(fault.Invalid, "serve", "--log-level takes debug, info, warn or error", nil)
	}
	config, err := o.cluster.config("set --server and --certificate-authority, or --kubeconfig")
	if err != nil {
		return err
	}
	o.server.Cluster = config
	o.server.Log = slog.New(slog.NewJSONHandler(o.streams.Err, &slog.HandlerOptions{Level: o.level}))
	klog.SetSlogLogger(o.server.Log) // what client-go logs
	if o.server.Runner, err = step.NewRunner(nil, step.WithSettle(o.settle)); err != nil {
		return err
	}
	serving, err := server.New(o.server)
	if err != nil {
		return err
	}
	if err := serving.Listen(ctx); err != nil {
		return err
	}
	return serving.Serve(ctx)
}
