// Package check is the fourth stage: it validates every key against its schema
// and limits.
//
// In: shaped metadata. Out: a Publication, the only thing that package publish
// accepts and that only this package makes. The error lists everything that is
// wrong, each with the place that it comes from.
package check

import (
	"strings"
	"unicode"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/shape"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Limits of one publication.
const (
	// MaxBytes is the size of all values together, as compact JSON.
	MaxBytes = 256 << 10
	// MaxString is the longest string of a value, in bytes.
	MaxString = 32 << 10
	// MaxEntries is the number of entries of one key.
	MaxEntries = 500
	// MaxEntryName is the longest name of an entry, in bytes.
	MaxEntryName = 253
)

// Check validates shaped metadata. The error is a *fault.Error: Invalid, or
// TooLarge when nothing but the size is wrong.
func Check(shaped shape.Shaped) (Publication, error) {
	var problems schema.Problems
	publication := Publication{
		job:      shaped.Job,
		warnings: shaped.Warnings,
		keys:     make(map[string]map[string]any),
		takeOver: make(map[Place]bool),
		schemas:  make(map[string]*schema.Schema),
	}
	for _, name := range shaped.Names() {
		key := shaped.Keys[name]
		problems = append(problems, checkKey(key)...)
		publication.add(key)
	}
	if len(problems) > 0 {
		return Publication{}, fault.Of(fault.Invalid, "request", problems)
	}
	if size := publication.largest(); size.total > MaxBytes {
		problems.Add(shaped.Keys[size.key].Pointer, "%d bytes of JSON in all, more than %d; the largest key is %s with %d: publish less",
			size.total, MaxBytes, size.key, size.bytes)
		return Publication{}, fault.Of(fault.TooLarge, "request", problems)
	}
	return publication, nil
}

// checkKey returns what is wrong with one key, at the places it comes from.
func checkKey(key *shape.Key) schema.Problems {
	var problems schema.Problems
	content := make(map[string]any, len(key.Entries))
	for name, entry := range key.Entries {
		content[name] = entry.Value
		if reason := badName(name); reason != "" {
			problems.Add(entry.Pointer, "the name of an entry of %s %s", key.Name, reason)
		}
		problems = append(problems, longStrings(entry.Value, entry.Pointer)...)
	}
	if len(content) > MaxEntries {
		problems.Add(key.Pointer, "%d entries of %s, more than %d", len(content), key.Name, MaxEntries)
	}
	if len(problems) > 0 || len(content) == 0 {
		return problems
	}
	for _, problem := range key.Schema.Validate(content) {
		problems = append(problems, relocate(problem, key))
	}
	return problems
}

// relocate moves a problem from the key's value to where the entry comes from.
func relocate(problem schema.Problem, key *shape.Key) schema.Problem {
	message := key.Name + ": " + problem.Message
	for name, entry := range key.Entries {
		at := schema.Pointer(name)
		if rest, inside := strings.CutPrefix(problem.Pointer, at); inside && (rest == "" || rest[0] == '/') {
			return schema.Problem{Pointer: entry.Pointer + rest, Message: message}
		}
	}
	return schema.Problem{Pointer: key.Pointer, Message: message}
}

func badName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > MaxEntryName:
		return "is longer than its limit of 253 bytes"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has a control character"
	}
	return ""
}

// longStrings returns a problem for every string that is too long to store.
func longStrings(v any, at string) schema.Problems {
	var problems schema.Problems
	switch v := v.(type) {
	case string:
		if len(v) > MaxString {
			problems.Add(at, "a string of %d bytes, more than %d", len(v), MaxString)
		}
	case []any:
		for i, element := range v {
			problems = append(problems, longStrings(element, at+"/"+itoa(i))...)
		}
	case map[string]any:
		for _, name := range tree.SortedKeys(v) {
			problems = append(problems, longStrings(v[name], at+schema.Pointer(name))...)
		}
	}
	return problems
}

// OnPromotedStage says whether the target is the Stage that is promoted.
func (p Publication) OnPromotedStage() bool { return p.job.OnPromotedStage() }

// Target returns what is published to.
func (p Publication) Target() decode.Target { return p.job.Target }
