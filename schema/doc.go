// Package schema says what the tool accepts and stores, and checks values against it.
//
// In: a JSON-native tree (nil, bool, string, int64, float64, []any,
// map[string]any) and, for a key that is not well known, a JSON Schema in the
// same form. Out: Problems, each with a JSON Pointer, sorted, capped, and
// without a value of the checked document, which may be a credential.
//
// The JSON files are the source of truth: one per well-known key under
// wellknown, config.schema.json for the step's configuration and
// request.schema.json for the request around it.
//
// Two keywords are the tool's own. x-entry-name, at the root of a schema, names
// the fields by which the items of a list become entries. x-problem, beside a
// pattern, const, enum or not, is the message for a value that fails it; it is
// shown for well-known and registered schemas alone. Three formats are as well:
// web-url (CheckURL), repo-url and artifact-uri.
//
// Schemas and values of third parties are untrusted. They are bounded before
// they are processed, nothing outside a schema's document is ever read, and a
// validation that would cost too much is ended by a budget.
package schema
