// Package server is the HTTP door: POST /v1/publish for the http step of Kargo.
//
// In: requests as JSON, each with the bearer token of its caller, whose rights
// decide what may be done; the server has none of its own. Out: the result as
// JSON, or a problem (RFC 9457) that says what to do; a line of log and metrics,
// which hold neither values nor tokens.
package server
