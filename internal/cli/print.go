package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

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
		manifest, err := p.stage.Manifest()
		if err != nil {
			return err
		}
		_, err = o.streams.Out.Write(manifest)
		return err
	}
	document := resultDocument{Result: p.result}
	if p.metadata != nil {
		document.Metadata = p.metadata
	}
	if shown {
		document.Stage = p.stage.Object().Object
	}
	return printDocument(o.streams.Out, document, o.output)
}

// problems returns the places that are wrong, if the run failed for them.
func (p printable) problems() schema.Problems {
	var failure *step.Error
	if errors.As(p.err, &failure) {
		return failure.Problems
	}
	return nil
}

// printDocument writes JSON, in which & stays &, or YAML.
func printDocument(out io.Writer, document any, format string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return err
	}
	content := text.Bytes()
	if format == "yaml" {
		converted, err := yaml.JSONToYAML(content)
		if err != nil {
			return err
		}
		content = converted
	}
	_, err := out.Write(content)
	return err
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
		content, err := yaml.Marshal(p.metadata)
		if err != nil {
			return err
		}
		text.WriteString("metadata:\n")
		for _, line := range strings.SplitAfter(strings.TrimSuffix(string(content), "\n"), "\n") {
			text.WriteString("  " + line)
		}
		text.WriteString("\n")
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
