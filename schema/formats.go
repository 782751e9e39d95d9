package schema

import (
	"errors"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// errFormat says that a string is not of its format. The reasons of the
// library's own formats are not passed on, because they quote the string.
var errFormat = errors.New("")

// ownFormats are the formats that exist here alone, open to every schema.
var ownFormats = map[string]func(string) string{
	"web-url":      CheckURL,
	"repo-url":     checkRepoURL,
	"artifact-uri": checkArtifactURI,
}

// libraryFormats are the formats of JSON Schema that the library asserts.
// A format that is in neither list is refused instead of ignored.
var libraryFormats = []string{
	"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "iri", "iri-reference",
	"json-pointer", "period", "regex", "relative-json-pointer", "semver", "time", "uri",
	"uri-reference", "uri-template", "uuid",
}

// formatNames returns all formats, sorted.
func formatNames() []string {
	return slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(ownFormats)), libraryFormats...)))
}

// registerFormats adds ownFormats to a compiler.
func registerFormats(compiler *jsonschema.Compiler) {
	for name, check := range ownFormats {
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			text, ok := v.(string)
			if !ok {
				return nil
			}
			if reason := check(text); reason != "" {
				return errors.New(reason)
			}
			return nil
		}})
	}
}

// formatProblem returns the message for a string that is not of the format.
func formatProblem(format string, err error) string {
	if _, own := ownFormats[format]; own {
		return err.Error()
	}
	return "is not a valid " + format
}
