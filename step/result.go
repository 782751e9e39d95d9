package step

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// Outcome is how a run ended, in Kargo's words.
type Outcome string

// The outcomes of a run.
const (
	// Succeeded is a publication that holds.
	Succeeded Outcome = "Succeeded"
	// Failed is terminal: the same request fails again.
	Failed Outcome = "Failed"
	// Errored may succeed when it is tried again.
	Errored Outcome = "Errored"
)

// Result is what a run yields.
type Result struct {
	Status Outcome `json:"status"`
	// Message is for people: what was published, or what to do.
	Message string `json:"message"`
	// Output is for later steps: JSON-native and small. Its members are
	// published (key -> entry names), links (a list of url, label, tooltip,
	// icon), changed, reasserted, tookOver (a list of key, entry, from) and
	// warnings.
	Output map[string]any `json:"output"`
}

// FailedResult returns the Result of an error before anything was published.
// A nil err gives an empty, successful Result.
func FailedResult(err error) Result {
	return newResult(check.Publication{}, publish.Report{}, err)
}

func newResult(publication check.Publication, report publish.Report, err error) Result {
	result := Result{Status: Succeeded, Message: summary(publication, report), Output: output(publication, report)}
	if err != nil {
		result.Status, result.Message = Failed, err.Error()
		if fault.KindOf(err).Retryable() {
			result.Status = Errored
		}
	}
	return result
}

func output(publication check.Publication, report publish.Report) map[string]any {
	published := make(map[string]any, len(report.Published))
	for key, entries := range report.Published {
		published[key] = list(entries)
	}
	tookOver := make([]any, len(report.TookOver))
	for i, taken := range report.TookOver {
		tookOver[i] = map[string]any{"key": taken.Place.Key, "entry": taken.Place.Entry, "from": taken.From}
	}
	return map[string]any{
		"published":  published,
		"links":      links(publication, report),
		"changed":    report.Changed,
		"reasserted": int64(report.Reasserted),
		"tookOver":   tookOver,
		"warnings":   list(report.Warnings),
	}
}

// links returns the published links in the form that Kargo v1.11 and later shows
// on the promotion, ordered by their order, then their name.
func links(publication check.Publication, report publish.Report) []any {
	content := publication.Metadata()["links"]
	entries := slices.Clone(report.Published["links"])
	order := func(name string) int64 {
		entry, _ := content[name].(map[string]any)
		position, _ := entry["order"].(int64)
		return position
	}
	slices.SortStableFunc(entries, func(a, b string) int { return int(order(a)) - int(order(b)) })
	shown := make([]any, 0, len(entries))
	for _, name := range entries {
		entry, isObject := content[name].(map[string]any)
		if !isObject {
			continue // kept from an earlier promotion
		}
		link := map[string]any{"label": name}
		for _, field := range []string{"url", "label", "tooltip", "icon"} {
			if text, given := entry[field].(string); given {
				link[field] = text
			}
		}
		shown = append(shown, link)
	}
	return shown
}

// summary says what was published, by key and entry.
func summary(publication check.Publication, report publish.Report) string {
	subject := publication.Target().String()
	if len(report.Published) == 0 {
		return subject + ": nothing is published by " + publication.Owner()
	}
	return subject + ": published " + listing(report.Published)
}

// listing returns keys and their entries for a message; "nothing" for none.
func listing(published map[string][]string) string {
	if len(published) == 0 {
		return "nothing"
	}
	const most = 5 // entries of a key
	parts := make([]string, 0, len(published))
	for _, key := range tree.SortedKeys(published) {
		parts = append(parts, fmt.Sprintf("%s (%s)", key, wording.List(published[key], most)))
	}
	return strings.Join(parts, ", ")
}

func list(texts []string) []any {
	converted := make([]any, len(texts))
	for i, text := range texts {
		converted[i] = text
	}
	return converted
}
