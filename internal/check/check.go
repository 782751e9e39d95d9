// Package check is the fourth stage: it validates every key against its schema
// and limits.
//
// In: shaped metadata. Out: a Publication, the only thing that package publish
// accepts and that only this package makes. The error lists everything that is
// wrong, each with the place that it comes from.
package check

import (
	"context"
	"slices"
	"strconv"
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

// Check validates shaped metadata: names, strings and sizes first, then, unless
// it is too large, each key against its schema. The error is a *fault.Error:
// Invalid, with the problems of all stages; TooLarge when nothing but the size is
// wrong; or Timeout when ctx ended.
func Check(ctx context.Context, shaped shape.Shaped) (Publication, error) {
	publication := Publication{
		job:      shaped.Job,
		warnings: slices.Clip(shaped.Warnings),
		keys:     make(map[string]map[string]any),
		takeOver: make(map[Place]bool),
		schemas:  make(map[string]*schema.Schema),
	}
	found, oversize := shaped.Clone(), shaped.Oversize
	for _, name := range shaped.Names() {
		key := shaped.Keys[name]
		if problems := checkForm(key); len(problems) > 0 {
			found.Problems = append(found.Problems, problems...)
			found.LeaveOut(name)
		}
		publication.add(key)
	}
	if len(shaped.Keys) > decode.MaxKeys {
		found.Problems.Add("/config/metadata", "%d keys, more than %d: publish less", len(shaped.Keys), decode.MaxKeys)
	}
	if size := publication.largest(); size.total > MaxBytes {
		oversize.Add(shaped.Keys[size.key].Pointer, "%d bytes of JSON in all, more than %d; the largest key is %s with %d: publish less",
			size.total, MaxBytes, size.key, size.bytes)
	}
	if len(oversize) > 0 && len(found.Problems) == 0 {
		return Publication{}, fault.Of(fault.TooLarge, "request", oversize)
	}
	for _, name := range shaped.Names() {
		if len(oversize) == 0 {
			found.Problems = append(found.Problems, checkSchema(ctx, shaped.Keys[name], shaped.Job.Budget, found.Partial(name))...)
		}
		if err := ctx.Err(); err != nil {
			return Publication{}, fault.New(fault.Timeout, "request", "the deadline passed while the values were checked: try again", err)
		}
	}
	if problems := append(found.Problems, oversize...); len(problems) > 0 {
		return Publication{}, fault.Of(fault.Invalid, "request", problems)
	}
	return publication, nil
}

// checkForm returns what is wrong with one key whatever its schema says.
func checkForm(key *shape.Key) schema.Problems {
	var problems schema.Problems
	for _, name := range tree.SortedKeys(key.Entries) {
		entry := key.Entries[name]
		problems = append(problems, checkEntry(key.Name, name, entry.Value, entry.Pointer)...)
	}
	if len(key.Entries) > MaxEntries {
		problems.Add(key.Pointer, "%d entries of %s, more than %d", len(key.Entries), key.Name, MaxEntries)
	}
	return problems
}

// checkEntry returns what is wrong with one entry whatever its schema says.
func checkEntry(key, name string, value any, at string) schema.Problems {
	var problems schema.Problems
	if reason := badName(name); reason != "" {
		problems.Add(at, "the name of an entry of %s %s", key, reason)
	}
	return append(problems, longStrings(value, at)...)
}

// checkSchema validates one key, and what of it is not stored. Of a key of which
// something is left out, only what is wrong inside entries is known.
func checkSchema(ctx context.Context, key *shape.Key, budget *schema.Budget, partial bool) schema.Problems {
	var problems schema.Problems
	stored := content(key.Entries)
	if len(stored) > 0 {
		for _, problem := range budget.Validate(ctx, key.Schema, stored) {
			moved, inside := relocate(problem, key.Name, key.Entries)
			if !inside {
				moved.Pointer = key.Pointer
			}
			if inside || !partial {
				problems = append(problems, moved)
			}
		}
	}
	if len(key.Unstored) > 0 {
		for _, problem := range budget.Validate(ctx, key.Schema, content(key.Unstored)) {
			if moved, inside := relocate(problem, key.Name, key.Unstored); inside {
				problems = append(problems, moved)
			}
		}
	}
	return problems
}

func content(entries map[string]shape.Entry) map[string]any {
	values := make(map[string]any, len(entries))
	for name, entry := range entries {
		values[name] = entry.Value
	}
	return values
}

// relocate moves a problem from the key's value to where the entry comes from,
// if it is inside one.
func relocate(problem schema.Problem, key string, entries map[string]shape.Entry) (moved schema.Problem, inside bool) {
	moved.Message = key + ": " + problem.Message
	token, rest, isLonger := strings.Cut(strings.TrimPrefix(problem.Pointer, "/"), "/")
	entry, inside := entries[unescaper.Replace(token)]
	if !inside || problem.Pointer == "" {
		return moved, false
	}
	moved.Pointer = entry.Pointer
	if isLonger {
		moved.Pointer += "/" + rest
	}
	return moved, true
}

// unescaper reads a token of a JSON Pointer.
var unescaper = strings.NewReplacer("~1", "/", "~0", "~")

func badName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > MaxEntryName:
		return "is longer than its limit of 253 bytes"
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }):
		return "has a control character, or one that is invisible or breaks the line"
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
			problems = append(problems, longStrings(element, at+"/"+strconv.Itoa(i))...)
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
