package schema

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// Provenance is the key that the tool alone writes.
const Provenance = "provenance"

//go:embed wellknown/*.json
var wellKnownFiles embed.FS

// wellKnown is the compiled schemas that come with the tool.
var wellKnown = sync.OnceValue(func() map[string]*Schema {
	entries, err := wellKnownFiles.ReadDir("wellknown")
	if err != nil {
		panic(err)
	}
	schemas := make(map[string]*Schema, len(entries))
	for _, entry := range entries {
		raw, err := wellKnownFiles.ReadFile("wellknown/" + entry.Name())
		if err != nil {
			panic(err)
		}
		compiled, err := compile(mustParse(raw), true, nil)
		if err != nil {
			panic(fmt.Sprintf("%s: %v", entry.Name(), err))
		}
		compiled.raw = raw
		schemas[strings.TrimSuffix(entry.Name(), ".json")] = compiled
	}
	return schemas
})

// WellKnown says whether the key is one of the tool's own, provenance included.
func WellKnown(key string) bool {
	return wellKnown()[key] != nil
}

// Registry holds the well-known keys and those that a door registers. It does
// not change, and is safe for concurrent use.
type Registry struct {
	schemas map[string]*Schema
}

// Option adds to a Registry.
type Option func(*Registry) error

// NewRegistry returns a Registry with the well-known keys and those of the options.
func NewRegistry(options ...Option) (*Registry, error) {
	r := &Registry{schemas: maps.Clone(wellKnown())}
	var problems []error
	for _, option := range options {
		problems = append(problems, option(r))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return r, nil
}

// WithKey registers the schema of a third party's key. It fails for a key that
// CheckKey refuses, one that is registered already, and a document that Compile
// refuses; the error then unwraps to Problems.
func WithKey(key string, document any) Option {
	return func(r *Registry) error {
		if WellKnown(key) {
			return fmt.Errorf("key %s: is the tool's own and cannot be registered", wording.Name(key))
		}
		if reason := CheckKey(key); reason != "" {
			return fmt.Errorf("key %s: %s", wording.Name(key), reason)
		}
		if r.schemas[key] != nil {
			return fmt.Errorf("key %s: is registered already", wording.Name(key))
		}
		compiled, err := compile(document, true, nil)
		if err != nil {
			return fmt.Errorf("key %s: schema: %w", wording.Name(key), err)
		}
		r.schemas[key] = compiled
		return nil
	}
}

// Lookup returns the schema of a key; false when there is none, so that an item
// has to bring one.
func (r *Registry) Lookup(key string) (*Schema, bool) {
	s, found := r.schemas[key]
	return s, found
}

// Keys returns the keys that a config may use without a schema, sorted: all
// but provenance.
func (r *Registry) Keys() []string {
	keys := slices.Collect(maps.Keys(r.schemas))
	keys = slices.DeleteFunc(keys, func(key string) bool { return key == Provenance })
	slices.Sort(keys)
	return keys
}

var (
	keyPrefix = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	keyName   = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
)

const ownKeyHint = " (a key of your own begins with a DNS name, such as example.com/release)"

// CheckKey returns "" for a key that a third party may use, else the reason why
// not. Such a key is a DNS name of at most 253 bytes, "/", and a name of at most
// 63 letters, digits, dashes, underscores and dots, such as example.com/release:
// the syntax of Kubernetes' qualified names. Well-known keys do not pass.
func CheckKey(key string) string {
	prefix, name, found := strings.Cut(key, "/")
	switch {
	case key == "":
		return "is empty"
	case !found:
		known := slices.Collect(maps.Keys(wellKnown()))
		known = slices.DeleteFunc(known, func(key string) bool { return key == Provenance })
		return "is not a well-known key" + wording.Hint(key, known) + ownKeyHint
	case len(prefix) > 253 || !keyPrefix.MatchString(prefix):
		return "has to begin with a DNS name in lower case, such as example.com, before the slash"
	case len(name) > 63 || !keyName.MatchString(name):
		return "has to end in a name of at most 63 letters, digits, dashes, underscores or dots after the slash"
	}
	return ""
}
