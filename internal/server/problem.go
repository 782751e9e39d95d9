package server

import (
	"errors"
	"net/http"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/schema"
	"github.com/kargo-steps/publish-metadata/step"
)

// problem is the body of a reply that is not a success, RFC 9457.
type problem struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	// Status is the HTTP status, Outcome the word that Kargo has for it.
	Status  int          `json:"status"`
	Outcome step.Outcome `json:"outcome"`
	// Message says what the template's author should do.
	Message   string          `json:"message"`
	Problems  schema.Problems `json:"problems"`
	Retryable bool            `json:"retryable"`
	// Output is what was done before it went wrong, if anything was.
	Output map[string]any `json:"output,omitempty"`
}

const problemTypes = "https://kargo-steps.github.io/publish-metadata/problems/"

// maxMessage bounds a message, which ends up in the status of a Promotion; the
// problems say the rest.
const maxMessage = 8 << 10

// class is a kind of problem: the last part of its type, its title and status.
type class struct {
	slug, title string
	status      int
}

// classes are those of the errors of package step.
var classes = map[fault.Kind]class{
	fault.Invalid:         {"invalid", "The request is invalid", http.StatusUnprocessableEntity},
	fault.TooLarge:        {"too-large", "The request or the metadata is too large", http.StatusRequestEntityTooLarge},
	fault.Unauthenticated: {"unauthenticated", "The credentials are missing or wrong", http.StatusUnauthorized},
	fault.Forbidden:       {"forbidden", "The caller may not do this", http.StatusForbidden},
	fault.NotFound:        {"not-found", "The target does not exist", http.StatusNotFound},
	fault.Conflict:        {"conflict", "Somebody else owns an entry", http.StatusConflict},
	fault.Superseded:      {"superseded", "The promotion is not the current one", http.StatusConflict},
	fault.Unavailable:     {"unavailable", "The API server or this service is not available", http.StatusServiceUnavailable},
	fault.NotSettled:      {"not-settled", "The publication did not hold", http.StatusServiceUnavailable},
	fault.Timeout:         {"timeout", "The deadline passed", http.StatusGatewayTimeout},
}

// doorClass is a class of errors that only this door makes.
type doorClass struct {
	class
	kind fault.Kind
}

var (
	classMalformed   = doorClass{class{"malformed", "The body cannot be read", http.StatusBadRequest}, fault.Invalid}
	classUnsupported = doorClass{class{"unsupported", "The body is not JSON", http.StatusUnsupportedMediaType}, fault.Invalid}
	classNotAllowed  = doorClass{class{"not-allowed", "The method is not allowed", http.StatusMethodNotAllowed}, fault.Invalid}
	classNoSuchPath  = doorClass{class{"no-such-path", "The path is not served", http.StatusNotFound}, fault.NotFound}
	classSlow        = doorClass{class{"slow", "The body did not arrive in time", http.StatusRequestTimeout}, fault.Timeout}
	classInternal    = doorClass{class{"internal", "The service failed", http.StatusInternalServerError}, fault.Unavailable}
)

// refusal is an error of this door.
type refusal struct {
	class   class
	failure *fault.Error
}

func (r refusal) Error() string { return r.failure.Error() }
func (r refusal) Unwrap() error { return r.failure }

func (c doorClass) refuse(subject, message string) error {
	return refusal{c.class, fault.New(c.kind, subject, message, nil)}
}

// of returns an error of a stage as one of this class.
func (c doorClass) of(err *fault.Error) error {
	copied := *err
	copied.Kind = c.kind
	return refusal{c.class, &copied}
}

func classOf(err error) class {
	var own refusal
	if errors.As(err, &own) {
		return own.class
	}
	return classes[fault.KindOf(err)]
}

// problemReply returns the reply to a request that failed before anything was done.
func problemReply(err error) reply {
	return replyTo(step.FailedResult(err), err)
}

func newProblem(result step.Result, err error) problem {
	class := classOf(err)
	p := problem{
		Type: problemTypes + class.slug, Title: class.title, Status: class.status,
		Outcome: result.Status, Message: bounded(result.Message, maxMessage),
		Problems: schema.Problems{}, Retryable: fault.KindOf(err).Retryable(),
	}
	var failure *fault.Error
	if errors.As(err, &failure) && len(failure.Problems) > 0 {
		p.Problems = failure.Problems
	}
	published, _ := result.Output["published"].(map[string]any)
	if changed, _ := result.Output["changed"].(bool); changed || len(published) > 0 {
		p.Output = result.Output
	}
	return p
}

// bounded returns the beginning of a text that is longer than limit bytes.
func bounded(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
