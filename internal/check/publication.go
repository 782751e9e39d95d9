package check

import (
	"time"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/shape"
	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Publication is checked metadata, its target and its owner. The zero value
// publishes nothing to nowhere.
type Publication struct {
	job      decode.Job
	keys     map[string]map[string]any
	schemas  map[string]*schema.Schema
	keep     []string
	takeOver map[Place]bool
	warnings []string
}

// Place is an entry of a key.
type Place struct{ Key, Entry string }

// String returns "key.entry".
func (p Place) String() string { return p.Key + "." + p.Entry }

// add takes over one key.
func (p *Publication) add(key *shape.Key) {
	p.schemas[key.Name] = key.Schema
	if key.Keep {
		p.keep = append(p.keep, key.Name)
		return
	}
	if len(key.Entries) > 0 && key.Schema.Unchecked() {
		p.warnings = append(p.warnings, key.Name+": unchecked, its schema accepts everything")
	}
	content := make(map[string]any, len(key.Entries))
	for _, name := range tree.SortedKeys(key.Entries) {
		entry := key.Entries[name]
		content[name] = entry.Value
		if entry.TakeOver {
			p.takeOver[Place{key.Name, name}] = true
		}
	}
	if len(content) > 0 {
		p.keys[key.Name] = content
	}
}

// Metadata returns key -> entry -> value; not to be changed.
func (p Publication) Metadata() map[string]map[string]any { return p.keys }

// Keep returns the keys whose entries stay as the owner published them, sorted.
func (p Publication) Keep() []string { return p.keep }

// TakesOver says whether other owners of an entry give way.
func (p Publication) TakesOver(place Place) bool { return p.takeOver[place] }

// Owner returns who owns what is published on the target.
func (p Publication) Owner() string { return p.job.Owner }

// Manager returns the field manager of the owner.
func (p Publication) Manager() string { return decode.Manager(p.job.Owner) }

// Context returns what the publication is part of.
func (p Publication) Context() decode.Context { return p.job.Context }

// Settle returns the config's settle window, or def where it has none.
func (p Publication) Settle(def time.Duration) time.Duration {
	if p.job.Config.Settle != nil {
		return *p.job.Config.Settle
	}
	return def
}

// Warnings returns what the template's author should know.
func (p Publication) Warnings() []string { return p.warnings }

// Recheck checks entries that were not part of the request, such as kept ones, as
// if they were. The error is a *fault.Error: Invalid, or TooLarge for what the
// request publishes and the content together, when nothing but the size is wrong.
func (p Publication) Recheck(key string, content map[string]any) error {
	subject, at := p.job.Target.String(), "/status/metadata"+schema.Pointer(key)
	var problems schema.Problems
	for _, name := range tree.SortedKeys(content) {
		place := at + schema.Pointer(name)
		problems = append(problems, checkEntry(key, name, content[name], place)...)
		problems = append(problems, unstorable(content[name], place)...)
	}
	if len(content) > MaxEntries {
		problems.Add(at, "%d entries of %s, more than %d", len(content), key, MaxEntries)
	}
	if len(problems) > 0 {
		return fault.Of(fault.Invalid, subject, problems)
	}
	if total := p.largest().total + value.Size(content); total > MaxBytes {
		problems.Add(at, "with these kept entries %d bytes of JSON in all, more than %d: publish less, or remove them", total, MaxBytes)
		return fault.Of(fault.TooLarge, subject, problems)
	}
	return fault.Of(fault.Invalid, subject, p.schemas[key].Validate(content).Under(at))
}

// unstorable returns a problem for every null member and empty object that is not
// an element of a list: publishing drops them, so that somebody else wrote them.
func unstorable(v any, at string) schema.Problems {
	object, isObject := v.(map[string]any)
	switch {
	case v == nil:
		return schema.Problems{{Pointer: at, Message: "null is not stored: remove it, or publish the entry again"}}
	case isObject && len(object) == 0:
		return schema.Problems{{Pointer: at, Message: "an empty object is not stored: remove it, or publish the entry again"}}
	}
	var problems schema.Problems
	for _, name := range tree.SortedKeys(object) {
		problems = append(problems, unstorable(object[name], at+schema.Pointer(name))...)
	}
	return problems
}

// size is how large a publication is, and its largest key, in bytes of JSON.
type size struct {
	total, bytes int
	key          string
}

func (p Publication) largest() size {
	var found size
	for _, key := range tree.SortedKeys(p.keys) {
		content := make(map[string]any, len(p.keys[key]))
		for name, entry := range p.keys[key] {
			content[name] = entry
		}
		bytes := value.Size(content)
		found.total += bytes
		if bytes > found.bytes {
			found.bytes, found.key = bytes, key
		}
	}
	return found
}
