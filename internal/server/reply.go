package server

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/step"
)

// reply is what a request is answered with; it is whole before it is written.
type reply struct {
	status int
	result step.Result
	err    error
}

func replyTo(result step.Result, err error) reply {
	if err == nil {
		return reply{http.StatusOK, result, nil}
	}
	return reply{classOf(err).status, result, err}
}

func (r reply) write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	var document any = r.result
	header.Set("Content-Type", "application/json")
	if r.err != nil {
		document = newProblem(r.result, r.err)
		header.Set("Content-Type", "application/problem+json")
	}
	switch r.status {
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", "1")
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", "Bearer")
	}
	text := encode(document)
	w.WriteHeader(r.status)
	_, _ = w.Write(text) // the caller may be gone
}

// encode returns a document as JSON in which & stays &.
func encode(document any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		panic(err) // results and problems are JSON-native
	}
	return text.Bytes()
}

// kind returns the class of a failure for the log, "" for a success.
func (r reply) kind() string {
	if r.err == nil {
		return ""
	}
	return string(fault.KindOf(r.err))
}
