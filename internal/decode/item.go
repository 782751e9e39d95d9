package decode

import (
	"context"
	"errors"
	"strconv"

	"github.com/kargo-steps/publish-metadata/internal/resolve/expression"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Item is one thing to publish. Exactly one of HasValue, Expression and FromStep
// says where its value comes from.
type Item struct {
	// Index is the item's place in the config's metadata.
	Index int
	// Key is "" for a step that offers its own keys.
	Key      string
	Value    any
	HasValue bool
	// Expression is compiled from Text; nil when there is none.
	Expression *expression.Program
	Text       string
	// FromStep is the alias of a step whose output holds metadata.<key>; "" when there is none.
	FromStep  string
	OnMissing OnMissing
	// TakeOver says that owners of the item's entries give way.
	TakeOver bool
	// Schema is the key's: inline, or the registry's; nil while Key is "".
	Schema *schema.Schema
	// inline is the schema document of the config, for comparing items of one key.
	inline any
}

// OnMissing says what a missing value means.
type OnMissing string

// What to do about a missing value.
const (
	Fail   OnMissing = "fail"
	Keep   OnMissing = "keep"
	Remove OnMissing = "remove"
)

// Pointer returns the place of the item in the request.
func (i Item) Pointer() string {
	return "/config/metadata/" + strconv.Itoa(i.Index)
}

// Source returns the place that the item's value comes from; a problem inside
// the value goes on from there.
func (i Item) Source() string {
	switch {
	case i.Expression != nil:
		return i.Pointer() + "/fromExpression"
	case i.FromStep != "":
		return i.Pointer() + "/fromStep"
	}
	return i.Pointer() + "/value"
}

// decodeItems returns all items; it stops between two of them when ctx ends.
func (j *Job) decodeItems(ctx context.Context, documents []any) []Item {
	items := make([]Item, len(documents))
	for i, document := range documents {
		if ctx.Err() != nil {
			return nil
		}
		items[i] = decodeItem(i, document.(map[string]any), &j.Problems)
	}
	j.assignSchemas(ctx, items)
	return items
}

func decodeItem(index int, document map[string]any, problems *schema.Problems) Item {
	item := Item{Index: index, OnMissing: Fail}
	item.Key, _ = document["key"].(string)
	item.Value, item.HasValue = document["value"]
	if item.HasValue && item.Value == nil {
		problems.Add(item.Source(), "null is not a value: leave the item out to publish nothing")
	}
	if source, given := document["fromExpression"].(string); given {
		program, err := expression.Compile(source)
		if err != nil {
			problems.Add(item.Pointer()+"/fromExpression", "%s", message(err))
		}
		item.Expression, item.Text = program, source
	}
	if step, given := document["fromStep"].(map[string]any); given {
		item.FromStep, _ = step["as"].(string)
		for _, preset := range []string{"uses", "with"} {
			if _, given := step[preset]; given {
				problems.Add(item.Pointer()+"/fromStep/"+preset, "there are no presets: use fromExpression, or a step that offers output.metadata.<key>")
			}
		}
	}
	if policy, given := document["onMissing"].(string); given {
		item.OnMissing = OnMissing(policy)
	}
	if item.OnMissing == Keep && item.Key == "" {
		problems.Add(item.Pointer()+"/onMissing", "keep needs a key: without one it is not known what to keep")
	}
	item.TakeOver = document["onConflict"] == "takeOver"
	item.inline = document["schema"]
	return item
}

// message returns the text of an expression's error.
func message(err error) string {
	var failed *expression.Error
	if errors.As(err, &failed) {
		return failed.Error()
	}
	return "cannot be compiled"
}

// assignSchemas gives every item the schema of its key.
func (j *Job) assignSchemas(ctx context.Context, items []Item) {
	problems, registry := &j.Problems, j.Registry
	inline, broken := make(map[string]*Item), make(map[string]bool)
	for i := range items {
		item := &items[i]
		if item.inline == nil || ctx.Err() != nil {
			continue
		}
		at := item.Pointer() + "/schema"
		if item.Key == "" {
			problems.Add(at, "a schema needs a key")
			continue
		}
		if first, given := inline[item.Key]; given {
			if !tree.Equal(first.inline, item.inline) {
				problems.Add(at, "differs from the schema at %s/schema: one key has one schema", first.Pointer())
			}
			continue
		}
		compiled, err := j.compileInline(item.Key, item.inline)
		if err != nil {
			*problems = append(*problems, err.Under(at)...)
			broken[item.Key] = true
			continue
		}
		item.Schema = compiled
		inline[item.Key] = item
	}
	for i := range items {
		item := &items[i]
		if first, given := inline[item.Key]; given {
			item.Schema = first.Schema
		} else if item.Key != "" && item.inline == nil && !broken[item.Key] {
			if item.Schema, _ = registry.Lookup(item.Key); item.Schema == nil {
				problems.Add(item.Pointer()+"/key", "%s", UnknownKey(registry, item.Key))
			}
		}
		checkKey(item, problems)
	}
}

func (j *Job) compileInline(key string, document any) (*schema.Schema, schema.Problems) {
	if _, known := j.Registry.Lookup(key); known {
		return nil, schema.Problems{{Message: "the key " + key + " has a schema already, which a config cannot replace"}}
	}
	compiled, err := j.Budget.Compile(document)
	var problems schema.Problems
	if errors.As(err, &problems) {
		return nil, problems
	}
	return compiled, nil
}

// checkKey adds what is wrong with a third party's or a reserved key.
func checkKey(item *Item, problems *schema.Problems) {
	at := item.Pointer() + "/key"
	switch {
	case item.Key == schema.Provenance:
		problems.Add(at, "the key provenance is written by publish-metadata alone")
	case item.inline != nil && item.Key != "" && !schema.WellKnown(item.Key):
		if reason := schema.CheckKey(item.Key); reason != "" {
			problems.Add(at, "%s", reason)
		}
	}
}

// UnknownKey says what to do about a key that has no schema.
func UnknownKey(registry *schema.Registry, key string) string {
	if schema.CheckKey(key) == "" {
		return "the key " + key + " has no schema: add one to the item (schema: {} checks nothing), or register one"
	}
	return wording.Also("unknown key "+key+wording.Hint(key, registry.Keys()), "a third party's key has a prefix, such as example.com/"+key)
}
