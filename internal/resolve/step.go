package resolve

import (
	"fmt"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

const (
	// mostNames is how many names a message lists.
	mostNames = 10
	// mostSorted is how many names are sorted to list some of them.
	mostSorted = 1_000
	// mostWarned is how many null entries of an item are warned of one by one.
	mostWarned = 20
)

// namesOf returns the names of an object, sorted; nil for so many that listing a
// few says nothing.
func namesOf(object map[string]any) []string {
	if len(object) > mostSorted {
		return nil
	}
	return tree.SortedKeys(object)
}

// listing lists the names that namesOf returned of so many.
func listing(names []string, count int) string {
	if names == nil && count > 0 {
		return fmt.Sprintf("%d names", count)
	}
	return wording.List(names, mostNames)
}

// outputOf returns the full alias and the output of a step: in a task, the
// task's own step of that name goes before one of the same name outside it, so
// that a task means the same in every template.
func outputOf(job decode.Job, alias string) (string, any, error) {
	if task, _, inTask := strings.Cut(job.Context.Step, "::"); inTask {
		own := task + "::" + alias
		if output := job.Outputs[own]; output != nil {
			return own, output, nil
		}
	}
	if output := job.Outputs[alias]; output != nil {
		return alias, output, nil
	}
	aliases := namesOf(job.Outputs)
	text := fmt.Sprintf("step %s has no output%s", wording.Name(alias), wording.Hint(alias, aliases))
	if len(job.Outputs) == 0 {
		return alias, nil, missingOffer{text + ", and neither has any other step"}
	}
	return alias, nil, missingOffer{wording.Also(text, "the steps with outputs are "+listing(aliases, len(job.Outputs)))}
}

// missingOffer is what a step does not offer: an item's onMissing covers it.
type missingOffer struct{ text string }

func (m missingOffer) Error() string { return m.text }

// metadataOf returns what a step's output holds under metadata.
func metadataOf(alias string, output any) (map[string]any, error) {
	fields, _ := output.(map[string]any)
	metadata, isObject := fields["metadata"].(map[string]any)
	if isObject && len(metadata) > 0 {
		return metadata, nil
	}
	text := fmt.Sprintf("step %s offers nothing: a step offers a key in its output under metadata.<key>", wording.Name(alias))
	if len(fields) > 0 {
		text += "; its output has " + listing(namesOf(fields), len(fields)) + ", which fromExpression can use"
	}
	return nil, missingOffer{text}
}
