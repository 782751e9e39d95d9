package cluster

import (
	"context"
	"net/http"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// Callers makes Clients that have the credentials of their callers and nothing
// else. All of them share one transport, and so its connections, but no answer.
type Callers struct {
	config *rest.Config
	shared http.RoundTripper
	probe  rest.Interface
}

// NewCallers returns the Callers of a cluster. Of config only what reaches and
// verifies the API server is used, never its credentials. The error is a
// *fault.Error.
func NewCallers(config *rest.Config) (*Callers, error) {
	invalid := func(err error) error {
		return fault.New(fault.Invalid, "cluster", "the client's configuration cannot be used", err)
	}
	anonymous := unthrottled(rest.AnonymousClientConfig(config))
	if address, _, err := rest.DefaultServerUrlFor(anonymous); err != nil {
		return nil, invalid(err)
	} else if address.User != nil {
		return nil, fault.New(fault.Invalid, "cluster", "the API server's address has credentials, which every caller would act with: leave them out", nil)
	}
	shared, err := rest.TransportFor(anonymous)
	if err != nil {
		return nil, invalid(err)
	}
	probe, err := rest.UnversionedRESTClientForConfigAndClient(dynamic.ConfigFor(anonymous), unredirected(shared))
	if err != nil {
		return nil, invalid(err)
	}
	return &Callers{config: anonymous, shared: shared, probe: probe}, nil
}

// Client returns a Client with a caller's bearer token, which must not be "". It
// is cheap: one is made for each request.
func (c *Callers) Client(token string) (*Client, error) {
	if token == "" {
		return nil, fault.New(fault.Unauthenticated, "cluster", "there is no bearer token", nil)
	}
	client, err := dynamic.NewForConfigAndClient(c.config, unredirected(transport.NewBearerAuthRoundTripper(token, c.shared)))
	if err != nil {
		return nil, fault.New(fault.Invalid, "cluster", "the client's configuration cannot be used", err)
	}
	return &Client{dynamic: client}, nil
}

// unredirected returns a client that stays with the API server: a caller's token
// would go along wherever a redirect leads.
func unredirected(through http.RoundTripper) *http.Client {
	return &http.Client{Transport: through, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// Reachable asks the API server for its version, without credentials and once. An
// answer that refuses to tell is an answer. The error is a *fault.Error.
func (c *Callers) Reachable(ctx context.Context) error {
	code := 0
	err := c.probe.Get().AbsPath("/version").MaxRetries(0).Do(ctx).StatusCode(&code).Error()
	switch code {
	case http.StatusOK, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return nil
	}
	return fault.New(fault.Unavailable, "cluster", "the API server does not answer", err)
}

// Close closes the connections that no request uses.
func (c *Callers) Close() { utilnet.CloseIdleConnectionsFor(c.shared) }
