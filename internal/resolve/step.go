package resolve

import (
	"fmt"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// mostNames is how many names a message lists.
const mostNames = 10

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
	aliases := tree.SortedKeys(job.Outputs)
	return alias, nil, missingOffer{fmt.Sprintf("step %s has no output%s; the steps with outputs are %s",
		alias, wording.Hint(alias, aliases), wording.List(aliases, mostNames))}
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
	return nil, missingOffer{fmt.Sprintf(
		"step %s offers nothing: a step offers a key in its output under metadata.<key>; its output has %s, which fromExpression can use",
		alias, wording.List(tree.SortedKeys(fields), mostNames))}
}
