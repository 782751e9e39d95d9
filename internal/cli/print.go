package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/schema"
	"github.com/kargo-steps/publish-metadata/step"
)

// resultDocument is the result as JSON and YAML have it.
type resultDocument struct {
	step.Result
	// Metadata is what a dry run would apply.
	Metadata any `json:"metadata,omitempty"`
	// Stage is the manifest of --stage-file as it would be.
	Stage map[string]any `json:"stage,omitempty"`
}

// print writes the result to stdout. As text, a Stage that is not written in
// place is what stdout is for, and the result goes to stderr.
func (o *runOptions) print(p printable) error {
	shown := p.stage != nil && !o.inPlace && p.result.Status == step.Succeeded
	if o.output == "text" {
		out := o.streams.Out
		if p.stage != nil && !o.inPlace {
			out = o.streams.Err
		}
		if err := printText(out, p); err != nil || !shown {
			return err
		}
		_, err := o.streams.Out.Write(p.manifest)
		return err
	}
	printed := resultDocument{Result: p.result}
	if p.metadata != nil {
		printed.Metadata = p.metadata
	}
	if shown {
		printed.Stage = p.stage.Object().Object
	}
	if o.output == "yaml" {
		_, err := o.streams.Out.Write(document.EncodeYAML(printed.tree()))
		return err
	}
	return printJSON(o.streams.Out, printed)
}

// tree returns the document as a JSON-native tree.
func (d resultDocument) tree() map[string]any {
	tree := map[string]any{"status": string(d.Status), "message": d.Message, "output": d.Output}
	if d.Metadata != nil {
		tree["metadata"] = d.Metadata
	}
	if len(d.Stage) > 0 {
		tree["stage"] = d.Stage
	}
	return tree
}

// problems returns the places that are wrong, if the run failed for them.
func (p printable) problems() schema.Problems {
	var failure *step.Error
	if errors.As(p.err, &failure) {
		return failure.Problems
	}
	return nil
}

// printJSON writes JSON, in which & stays &.
func printJSON(out io.Writer, printed resultDocument) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(printed)
}

// printText writes the result for people.
func printText(out io.Writer, p printable) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s\n", p.result.Status, headline(p))
	for _, problem := range p.problems() {
		fmt.Fprintf(&text, "  %s\n", problem)
	}
	for _, taken := range listOf(p.result, "tookOver") {
		entry, _ := taken.(map[string]any)
		fmt.Fprintf(&text, "  took over %v.%v from %v\n", entry["key"], entry["entry"], entry["from"])
	}
	if p.metadata != nil {
		text.Write(document.EncodeYAML(map[string]any{"metadata": p.metadata}))
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// headline is the message, without the problems that follow it line by line.
func headline(p printable) string {
	if len(p.problems()) == 0 {
		return p.result.Message
	}
	return strings.TrimSuffix(strings.TrimSuffix(p.result.Message, p.problems().Error()), " ")
}

func listOf(result step.Result, name string) []any {
	list, _ := result.Output[name].([]any)
	return list
}

func warnings(result step.Result) []string {
	var texts []string
	for _, warning := range listOf(result, "warnings") {
		if text, isString := warning.(string); isString {
			texts = append(texts, text)
		}
	}
	return texts
}
