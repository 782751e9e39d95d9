package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/step"
)

// statusGone is what is logged and counted for a caller that did not wait for the
// answer; none is sent.
const statusGone = 499

// exchange is a request on its way, for the log and the metrics.
type exchange struct {
	started time.Time
	bytes   int
	names   names
	// unread says that the body did not arrive, which ends the request's context
	// though the caller may be there.
	unread bool
}

func (s *Server) publish(w http.ResponseWriter, r *http.Request) {
	s.metrics.inFlight.Inc()
	defer s.metrics.inFlight.Dec()
	x := &exchange{started: time.Now()}
	reply := s.answer(w, r, x)
	if s.stopping.Load() {
		w.Header().Set("Connection", "close") // the next request goes elsewhere
	}
	if gone := r.Context().Err() != nil && !x.unread; gone {
		reply.status = statusGone
	} else {
		reply.write(w)
	}
	s.conclude(x, reply)
}

// answer does what a request asks for. It does not write, and does not panic.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, x *exchange) (answered reply) {
	defer func() {
		if cause := recover(); cause != nil {
			s.panicked(cause)
			answered = problemReply(classInternal.refuse("service", "it failed: try again, and look into its log"))
		}
	}()
	ctx, cancel := context.WithDeadline(r.Context(), x.started.Add(s.options.RequestTimeout))
	defer cancel()
	token, err := bearer(r.Header)
	if err == nil {
		err = acceptable(r.Header)
	}
	if err != nil {
		return problemReply(err)
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		return problemReply(fault.New(fault.Unavailable, "service",
			fmt.Sprintf("it runs as many requests as it may (%d): try again", s.options.MaxConcurrent), nil))
	}
	content, err := read(ctx, w, r)
	if err != nil {
		x.unread = true
		return problemReply(err)
	}
	x.bytes = len(content)
	s.metrics.bodies.Observe(float64(len(content)))
	return s.run(ctx, token, content, x)
}

// run publishes what a body asks for, with the rights of token.
func (s *Server) run(ctx context.Context, token string, content []byte, x *exchange) reply {
	tree, err := parse(content)
	if err != nil {
		return problemReply(err)
	}
	request, err := receive(tree)
	x.names = request.names
	if err != nil {
		return problemReply(err)
	}
	client, err := s.callers.Client(token)
	if err != nil {
		return problemReply(err)
	}
	result, err := s.runner.With(client).Run(ctx, request.Request)
	if located := request.locate(err); located != err { //nolint:errorlint // the same error, not one of its kind
		err, result.Message = located, located.Error()
	}
	return replyTo(result, err)
}

// conclude logs and counts an exchange that is over.
func (s *Server) conclude(x *exchange, r reply) {
	took := time.Since(x.started)
	s.metrics.count(r, took)
	level := slog.LevelInfo
	if r.status >= http.StatusInternalServerError {
		level = slog.LevelWarn
	}
	attributes := append(x.names.attributes(),
		slog.String("outcome", string(outcomeOf(r))), slog.String("reason", r.kind()), slog.Int("code", r.status),
		slog.Duration("duration", took), slog.Int("bytes", x.bytes))
	s.log.LogAttrs(context.Background(), level, "publish", attributes...) //nolint:forbidigo // the request's may have ended; no handler needs it
}

// outcomeOf is the result's: an answer that nobody waited for may have succeeded.
func outcomeOf(r reply) step.Outcome { return r.result.Status }

// panicked logs a panic: its text only where the runtime made it, since any other
// may hold a value.
func (s *Server) panicked(cause any) {
	s.metrics.panics.Inc()
	text := fmt.Sprintf("%T", cause)
	if failure, isRuntime := cause.(runtime.Error); isRuntime {
		text = failure.Error()
	}
	s.log.Error("panic", "cause", text, "stack", string(debug.Stack()))
}
