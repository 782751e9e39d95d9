package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

const (
	// startTimeout bounds Start and Restart on a machine that is busy with other tests.
	startTimeout = 2 * time.Minute
	// portAttempts is how many ports are tried when another process takes them first.
	portAttempts = 10
)

// Server is a running etcd and kube-apiserver. Its methods may be called from
// several goroutines, but for Stop, StopAPI and Restart.
type Server struct {
	folder    string
	binaries  binaries
	authority *authority
	port      int
	etcd, api *process
	admin     *rest.Config
	client    dynamic.Interface
	served    []schema.GroupVersionResource
}

// Start starts etcd and kube-apiserver with RBAC on, installs Kargo's CRDs and
// waits until they are served. The context ends the start, not the Server:
// Stop does. An error says what to do where binaries are missing, and otherwise
// shows the end of the log of what failed; nothing is left running then. In the
// first two seconds the kube-apiserver takes two seconds to create an object of
// a resource that is so new.
func Start(ctx context.Context) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	binaries, err := findBinaries()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "controlplane-")
	if err != nil {
		return nil, fmt.Errorf("control plane: failed to make its folder: %w", err)
	}
	s := &Server{folder: folder, binaries: binaries}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context) error {
	if err := s.writeCredentials(); err != nil {
		return err
	}
	var err error
	if s.etcd, err = startProcess(s.folder, "etcd", append([]string{s.binaries.etcd}, etcdFlags(s.folder)...)...); err != nil {
		return err
	}
	if err := s.waitForEtcd(ctx); err != nil {
		return s.etcd.failed(err)
	}
	if err := s.startAPIOnFreePort(ctx); err != nil {
		return err
	}
	files, err := crdFiles(ctx, s.folder)
	if err != nil {
		return err
	}
	if s.served, err = installCRDs(ctx, s.client, files); err != nil {
		return s.api.failed(err)
	}
	if err := waitForCRDs(ctx, s.client, s.served); err != nil {
		return s.api.failed(err)
	}
	return nil
}

// Stop ends both processes and removes their folder. A second Stop does nothing.
func (s *Server) Stop() error {
	var errs []error
	for _, p := range []*process{s.api, s.etcd} {
		if p != nil {
			errs = append(errs, p.kill())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(s.folder))...)
}

// StopAPI ends the kube-apiserver at once, as a crash would: open requests
// fail, new ones are refused. etcd keeps running.
func (s *Server) StopAPI() error { return s.api.kill() }

// Restart ends the kube-apiserver as StopAPI does, unless that is done, starts
// it again on the same port and data, and waits until it serves Kargo's
// resources. Configs and clients made before stay good.
func (s *Server) Restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.StopAPI(); err != nil {
		return err
	}
	if err := s.startAPI(ctx); err != nil {
		return err
	}
	if err := waitForCRDs(ctx, s.client, s.served); err != nil {
		return s.api.failed(err)
	}
	return nil
}

// startAPIOnFreePort tries again where another process takes the port between
// its choice and its use.
func (s *Server) startAPIOnFreePort(ctx context.Context) error {
	var err error
	for range portAttempts {
		if s.port, err = freePort(); err != nil {
			return err
		}
		if err = s.configure(); err != nil {
			return err
		}
		if err = s.startAPI(ctx); err == nil || !strings.Contains(err.Error(), "address already in use") {
			return err
		}
	}
	return err
}

// startAPI starts the kube-apiserver on s.port and waits until it is ready.
func (s *Server) startAPI(ctx context.Context) error {
	argv := append([]string{s.binaries.apiserver}, apiserverFlags(s.folder, s.port)...)
	var err error
	if s.api, err = startProcess(s.folder, "kube-apiserver", argv...); err != nil {
		return err
	}
	if err := s.waitForAPI(ctx); err != nil {
		return errors.Join(s.api.failed(err), s.api.kill())
	}
	return nil
}

func (s *Server) path(name string) string { return filepath.Join(s.folder, name) }
