package server

import (
	"bytes"
	"crypto/tls"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// lookEvery is how often, at most, the files are read for a handshake.
const lookEvery = time.Second

// certificate is the pair in two files. They are compared by content: files of a
// mounted Secret change by a symbolic link, and times of change can stand still.
type certificate struct {
	certFile, keyFile string
	// changed is told of each new pair; err is why it cannot be used.
	changed func(err error)

	current atomic.Pointer[tls.Certificate]
	mu      sync.Mutex
	looked  time.Time
	pair    pair
}

// pair is the content of both files.
type pair struct{ cert, key []byte }

func (p pair) equal(other pair) bool {
	return bytes.Equal(p.cert, other.cert) && bytes.Equal(p.key, other.key)
}

// loadCertificate reads the files for the first time, when they have to be good.
func loadCertificate(certFile, keyFile string, changed func(error)) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, changed: changed, looked: time.Now()}
	read, loaded, err := c.load()
	if err != nil {
		return nil, err
	}
	c.pair = read
	c.current.Store(loaded)
	return c, nil
}

// get returns the certificate for a handshake. It is tls.Config's GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if c.mu.TryLock() { // while somebody looks, the others go on
		defer c.mu.Unlock()
		if time.Since(c.looked) >= lookEvery {
			c.look()
			c.looked = time.Now()
		}
	}
	return c.current.Load(), nil
}

// look replaces the certificate if the files have changed and are good. A pair
// that is not good is told once.
func (c *certificate) look() {
	read, loaded, err := c.load()
	if read.equal(c.pair) {
		return
	}
	c.pair = read
	if err == nil {
		c.current.Store(loaded)
	}
	c.changed(err)
}

// load reads the files; anew when they change in between, as when a Secret is
// replaced. The error names the files alone.
func (c *certificate) load() (read pair, loaded *tls.Certificate, err error) {
	for range 3 {
		before := read
		if read.cert, err = os.ReadFile(c.certFile); err != nil {
			return pair{}, nil, fault.New(fault.Invalid, c.certFile, "the certificate cannot be read", err)
		}
		if read.key, err = os.ReadFile(c.keyFile); err != nil {
			return pair{}, nil, fault.New(fault.Invalid, c.keyFile, "the private key cannot be read", err)
		}
		made, failure := tls.X509KeyPair(read.cert, read.key)
		if failure == nil {
			return read, &made, nil
		}
		err = fault.New(fault.Invalid, c.certFile, "it and the private key in "+c.keyFile+" are not a pair in PEM", failure)
		if read.equal(before) {
			break
		}
	}
	return read, nil, err
}

// certificateFailed logs and counts a new pair of files.
func (s *Server) certificateFailed(err error) {
	if err != nil {
		s.metrics.reloads.WithLabelValues("failure").Inc()
		s.log.Error("the changed certificate is not used", "error", err.Error())
		return
	}
	s.metrics.reloads.WithLabelValues("success").Inc()
	s.log.Info("the changed certificate is used")
}
