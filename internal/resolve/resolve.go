// Package resolve is the second stage: it finds the value of every item.
//
// In: a decoded Job. Out: Resolved, in which every item that has a value has it
// in hand, JSON-native and bounded; an item whose value is missing is marked as
// its onMissing says. The error lists every item that cannot be resolved.
package resolve

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/resolve/expression"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Resolved is a Job whose items have their values.
type Resolved struct {
	Job   decode.Job
	Items []Item
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
// each and end when ctx does. The error is a *fault.Error: Invalid with problems
// that point to the items, or Timeout when ctx ended.
func Resolve(ctx context.Context, job decode.Job) (Resolved, error) {
	resolved := Resolved{Job: job}
	var problems schema.Problems
	for _, item := range job.Config.Items {
		items, err := resolveItem(ctx, job, item)
		if ctx.Err() != nil {
			return Resolved{}, fault.New(fault.Timeout, "request", "the deadline passed while the items were resolved: try again", ctx.Err())
		}
		switch {
		case err == nil:
			resolved.Items = append(resolved.Items, items...)
		case isMissing(err) && item.OnMissing != decode.Fail:
			resolved.Items = append(resolved.Items, Item{Item: item, Source: item.Source(), Missing: true})
			resolved.warn(item, err.Error()+"; onMissing is "+string(item.OnMissing))
		case isMissing(err):
			problems.Add(item.Source(), "%s (set onMissing to publish the rest without it)", err.Error())
		default:
			problems = append(problems, problemsOf(err).Under(item.Source())...)
		}
		resolved.warnOfReservedAlias(item)
	}
	if len(problems) > 0 {
		return Resolved{}, fault.Of(fault.Invalid, "request", problems)
	}
	return resolved, nil
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

func resolveItem(ctx context.Context, job decode.Job, item decode.Item) ([]Item, error) {
	resolved := Item{Item: item, Source: item.Source()}
	switch {
	case item.Expression != nil:
		result, err := item.Expression.Run(ctx, expression.Env{
			Context: job.Context.Raw, Outputs: job.Outputs, Alias: job.Context.Step,
		})
		resolved.Value = result
		return []Item{resolved}, err
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
	keys := tree.SortedKeys(metadata)
	if item.Key != "" {
		if metadata[item.Key] == nil {
			return nil, missingOffer{fmt.Sprintf("step %s offers no metadata.%s%s; it offers %s",
				alias, item.Key, wording.Hint(item.Key, keys), wording.List(keys, mostNames))}
		}
		keys = []string{item.Key}
	}
	return assignKeys(job, item, metadata, keys)
}

// assignKeys makes an item of each key that a step offers.
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
