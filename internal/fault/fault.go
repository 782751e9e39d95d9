// Package fault is how every stage says that a publication cannot be done.
//
// In: a kind, the subject, the problems or a cause. Out: an *Error, whose kind
// alone decides the outcome, the HTTP status and the exit code (design 3.5).
package fault

import (
	"errors"
	"strings"

	"github.com/kargo-steps/publish-metadata/schema"
)

// Kind is the class of an error. It is an error itself, so that
// errors.Is(err, fault.Conflict) holds for every Error of that kind.
type Kind string

// The kinds of errors. All but the last three are terminal.
const (
	// Invalid is a request, config, expression, value or schema that cannot be accepted.
	Invalid Kind = "Invalid"
	// TooLarge is input, or metadata to store, above a limit.
	TooLarge Kind = "TooLarge"
	// Unauthenticated is no credentials, or wrong ones.
	Unauthenticated Kind = "Unauthenticated"
	// Forbidden is credentials without the right to do it.
	Forbidden Kind = "Forbidden"
	// NotFound is a target that does not exist.
	NotFound Kind = "NotFound"
	// Conflict is an entry that somebody else owns.
	Conflict Kind = "Conflict"
	// Superseded is a promotion that is no longer the target's current one.
	Superseded Kind = "Superseded"
	// Unavailable is an API server that is away or throttles.
	Unavailable Kind = "Unavailable"
	// Timeout is a deadline that passed, or a context that was cancelled.
	Timeout Kind = "Timeout"
	// NotSettled is a publication that kept being undone until the deadline.
	NotSettled Kind = "NotSettled"
)

// Error returns the kind's name.
func (k Kind) Error() string { return string(k) }

// Retryable says whether the same request may succeed later.
func (k Kind) Retryable() bool {
	return k == Unavailable || k == Timeout || k == NotSettled
}

// Error is what went wrong, subject first.
type Error struct {
	Kind Kind
	// Subject is what the error is about, such as "Stage demo/test" or "request".
	Subject string
	// Message says what failed and what to do; "" when Problems say it.
	Message string
	// Problems are the places of the request that are wrong, if any.
	Problems schema.Problems
	// Err is the cause, or nil. Its text is not part of Error's: it may quote a value.
	Err error
}

// New returns an Error with a message and no problems.
func New(kind Kind, subject, message string, cause error) *Error {
	return &Error{Kind: kind, Subject: subject, Message: message, Err: cause}
}

// Of returns an Error for problems, or nil if there are none.
func Of(kind Kind, subject string, problems schema.Problems) error {
	if len(problems) == 0 {
		return nil
	}
	return &Error{Kind: kind, Subject: subject, Problems: problems.Sorted()}
}

// Error returns "subject: message: problems".
func (e *Error) Error() string {
	parts := make([]string, 0, 3)
	for _, part := range []string{e.Subject, e.Message, e.Problems.Error()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// KindOf returns the kind of err: Unavailable, which a retry may help, for an
// error that no stage made.
func KindOf(err error) Kind {
	var kind Kind
	if errors.As(err, &kind) {
		return kind
	}
	return Unavailable
}
