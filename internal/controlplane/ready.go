package controlplane

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// Ports are chosen below the range from which Linux and macOS take those of
// outgoing connections, so that a port stays free while its server is restarted.
const (
	lowestPort  = 20000
	highestPort = 30000
)

// freePort returns a loopback port that nobody listens on at the moment.
func freePort() (int, error) {
	var err error
	for range 100 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		var listener net.Listener
		if listener, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, listener.Close()
		}
	}
	return 0, fmt.Errorf("kube-apiserver: found no free port: %w", err)
}

// errEnded is a process that ended by itself before it was ready.
var errEnded = errors.New("ended before it was ready")

// waitForEtcd waits until etcd has made its socket, which the kube-apiserver
// would otherwise look for only once a second.
func (s *Server) waitForEtcd(ctx context.Context) error {
	return s.etcd.waitUntil(ctx, func(context.Context) error {
		_, err := os.Stat(s.path(etcdSocket))
		return err
	})
}

// waitForAPI waits until the kube-apiserver says that it is ready.
func (s *Server) waitForAPI(ctx context.Context) error {
	client, err := rest.HTTPClientFor(s.admin)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	return s.api.waitUntil(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.admin.Host+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }() // only read
		if response.StatusCode != http.StatusOK {
			return errors.New("/readyz: " + response.Status)
		}
		return nil
	})
}

// waitUntil waits until ready returns nil; it stops when the process or ctx ends.
func (p *process) waitUntil(ctx context.Context, ready func(context.Context) error) error {
	return poll(ctx, func(ctx context.Context) (bool, error) {
		err := ready(ctx)
		select {
		case <-p.ended:
			return true, errors.Join(errEnded, err)
		default:
			return err == nil, err
		}
	})
}

// poll calls attempt until it is done, and returns its last error; at the end of
// ctx, that of ctx too.
func poll(ctx context.Context, attempt func(context.Context) (done bool, err error)) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (done bool, _ error) {
		done, last = attempt(ctx)
		return done, nil
	})
	return errors.Join(err, last)
}
