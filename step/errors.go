package step

import "github.com/kargo-steps/publish-metadata/internal/fault"

// Error is what went wrong. errors.Is matches it with its Kind and its cause.
type Error = fault.Error

// Kind is the class of an Error: it decides the Outcome.
type Kind = fault.Kind

// The kinds of errors. Unavailable, Timeout and NotSettled are Errored; all
// others are Failed.
const (
	Invalid         = fault.Invalid
	TooLarge        = fault.TooLarge
	Unauthenticated = fault.Unauthenticated
	Forbidden       = fault.Forbidden
	NotFound        = fault.NotFound
	Conflict        = fault.Conflict
	Superseded      = fault.Superseded
	Unavailable     = fault.Unavailable
	Timeout         = fault.Timeout
	NotSettled      = fault.NotSettled
)
