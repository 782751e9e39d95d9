package server

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// readyFor is how long an answer is given again, so that probes cannot
	// burden the API server.
	readyFor = time.Second
	// readyTimeout is how long the API server may take.
	readyTimeout = time.Second
)

// readiness remembers whether the API server answers.
type readiness struct {
	check func(context.Context) error

	mu   sync.Mutex
	at   time.Time
	last error
}

// get returns nil when the API server answers. Who asks while somebody else does
// waits for that answer; an ended ctx does not spoil it for others.
func (r *readiness) get(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.at.IsZero() && time.Since(r.at) < readyFor {
		return r.last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout)
	defer cancel()
	r.last = r.check(ctx)
	r.at = time.Now()
	return r.last
}

func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.stopping.Load():
		writeText(w, http.StatusServiceUnavailable, "stopping\n")
	case s.ready.get(r.Context()) != nil:
		writeText(w, http.StatusServiceUnavailable, "the API server does not answer\n")
	default:
		writeText(w, http.StatusOK, "ok\n")
	}
}
