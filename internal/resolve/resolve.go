// Package resolve is the second stage: it finds the value of every item.
//
// In: a decoded Job. Out: Resolved, in which every item that has a value has it
// in hand, JSON-native and bounded; an item whose value is missing is marked as
// its onMissing says. Items that cannot be resolved are left out, with a problem.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/resolve/expression"
	"github.com/kargo-steps/publish-metadata/internal/wording"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Resolved is a Job whose items have their values.
type Resolved struct {
	Job   decode.Job
	Items []Item
	decode.Findings
	// Warnings are for the template's author; sorted by item.
	Warnings []string
}

// Item is an item with its value. An item of the config whose step offers
// several keys becomes several.
type Item struct {
	decode.Item
	// Source is the place that problems inside the value are reported under.
	Source string
	// Missing says that there is no value and that the item's onMissing allows it.
	Missing bool
}

// Resolve returns the items of a job with their values. Expressions are run once
// each, within one budget, and end when ctx does. The error is a *fault.Error of
// kind Timeout when ctx ended.
func Resolve(ctx context.Context, job decode.Job) (Resolved, error) {
	resolved := Resolved{Job: job, Findings: job.Clone()}
	env := expression.Env{
		Context: job.Context.Raw, Outputs: job.Outputs, Alias: job.Context.Step, Budget: expression.NewBudget(),
	}
	for _, item := range job.Config.Items {
		items, err := resolveItem(ctx, job, item, env)
		if ctx.Err() != nil {
			return Resolved{}, fault.New(fault.Timeout, "request", "the deadline passed while the items were resolved: try again", ctx.Err())
		}
		if err != nil {
			resolved.unresolved(Item{Item: item, Source: item.Source()}, err)
		}
		for _, item := range items {
			resolved.add(item)
		}
		resolved.warnOfReservedAlias(item)
	}
	return resolved, nil
}

// add takes an item that has a value.
func (r *Resolved) add(item Item) {
	nulls, all := nullEntries(item.Value)
	if all {
		r.unresolved(item, missingOffer{"all entries of " + item.Key + " are null: " + wording.List(nulls, mostNames)})
		return
	}
	for i, name := range nulls {
		if i == mostWarned {
			r.warn(item.Item, fmt.Sprintf("and %d more entries of %s are null", len(nulls)-i, item.Key))
			break
		}
		r.warn(item.Item, item.Key+"."+wording.Name(name)+" is null: nothing is published there")
	}
	r.Items = append(r.Items, item)
}

// nullEntries returns the names of the entries without a value, sorted, and
// whether there are no others.
func nullEntries(value any) (names []string, all bool) {
	content, _ := value.(map[string]any)
	for name, entry := range content {
		if entry == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, len(names) > 0 && len(names) == len(content)
}

// unresolved takes an item that has no value: it is missing as onMissing says, or
// a problem.
func (r *Resolved) unresolved(item Item, err error) {
	switch {
	case isMissing(err) && item.OnMissing != decode.Fail:
		item.Value, item.Missing = nil, true
		r.Items = append(r.Items, item)
		r.warn(item.Item, wording.Also(err.Error(), "onMissing is "+string(item.OnMissing)))
		return
	case isMissing(err):
		r.Problems.Add(item.Source, "%s (set onMissing to publish the rest without it)", err.Error())
	default:
		r.Problems = append(r.Problems, problemsOf(err).Under(item.Source)...)
	}
	r.LeaveOut(item.Key)
}

// isMissing tells a value that is missing from one that is wrong.
func isMissing(err error) bool {
	var part *expression.Missing
	var offer missingOffer
	return errors.As(err, &part) || errors.As(err, &offer)
}

func (r *Resolved) warn(item decode.Item, text string) {
	r.Warnings = append(r.Warnings, item.Pointer()+": "+text)
}

// reservedAlias is how Kargo names a step without an alias.
var reservedAlias = regexp.MustCompile(`\bstep-\d+\b`)

// warnOfReservedAlias warns that an alias depends on the step's position.
func (r *Resolved) warnOfReservedAlias(item decode.Item) {
	if alias := reservedAlias.FindString(item.FromStep + " " + item.Text); alias != "" {
		r.warn(item, alias+" is the position of a step that has no name, and inserting a step changes it: name the step with `as`")
	}
}

// resolveItem returns what becomes of one item: nothing when there is an error.
func resolveItem(ctx context.Context, job decode.Job, item decode.Item, env expression.Env) ([]Item, error) {
	resolved := Item{Item: item, Source: item.Source()}
	switch {
	case item.Expression != nil:
		result, err := item.Expression.Run(ctx, env)
		if err != nil {
			return nil, err
		}
		resolved.Value = result
	case item.FromStep != "":
		return offered(job, item)
	}
	return []Item{resolved}, nil
}

// offered returns what a step offers by the convention output.metadata.<key>.
func offered(job decode.Job, item decode.Item) ([]Item, error) {
	alias, output, err := outputOf(job, item.FromStep)
	if err != nil {
		return nil, err
	}
	metadata, err := metadataOf(alias, output)
	if err != nil {
		return nil, err
	}
	keys := namesOf(metadata)
	switch {
	case item.Key != "" && metadata[item.Key] == nil:
		text := fmt.Sprintf("step %s offers no metadata.%s%s", wording.Name(alias), item.Key, wording.Hint(item.Key, keys))
		return nil, missingOffer{wording.Also(text, "it offers "+listing(keys, len(metadata)))}
	case item.Key != "":
		keys = []string{item.Key}
	case len(metadata) > decode.MaxKeys:
		return nil, fault.Of(fault.Invalid, "request", schema.Problems{{
			Message: fmt.Sprintf("step %s offers %d keys, more than %d: name one of them with key", wording.Name(alias), len(metadata), decode.MaxKeys),
		}})
	}
	return assignKeys(job, item, metadata, keys)
}

// assignKeys makes an item of each key that a step offers. A null is no offer.
func assignKeys(job decode.Job, item decode.Item, metadata map[string]any, keys []string) ([]Item, error) {
	var problems schema.Problems
	items := make([]Item, 0, len(keys))
	for _, key := range keys {
		offer := Item{Item: item, Source: item.Source() + schema.Pointer(key)}
		offer.Key, offer.Value = key, metadata[key]
		if item.Key == "" {
			offer.Schema, _ = job.Registry.Lookup(key)
		}
		switch {
		case key == schema.Provenance:
			problems.Add(schema.Pointer(key), "the key provenance is written by publish-metadata alone")
		case offer.Schema == nil:
			problems.Add(schema.Pointer(key), "%s", decode.UnknownKey(job.Registry, key))
		case offer.Value == nil:
			continue
		default:
			items = append(items, offer)
		}
	}
	if len(problems) > 0 {
		return nil, fault.Of(fault.Invalid, "request", problems)
	}
	if len(items) == 0 {
		return nil, missingOffer{"the step's output.metadata has nothing but null: " + listing(keys, len(keys))}
	}
	return items, nil
}

// problemsOf returns the problems of a failed item, pointers relative to its source.
func problemsOf(err error) schema.Problems {
	var failed *expression.Error
	var fails *fault.Error
	switch {
	case errors.As(err, &fails):
		return fails.Problems
	case errors.As(err, &failed) && len(failed.Problems) > 0:
		return failed.Problems
	case errors.As(err, &failed):
		return schema.Problems{{Message: failed.Error()}}
	}
	return schema.Problems{{Message: "cannot be resolved"}}
}
