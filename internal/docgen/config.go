package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kargo-steps/publish-metadata/schema"
)

const configIntro = `# The config

The object under ` + "`config`" + ` of a request. It is checked against
[schema/config.schema.json](../schema/config.schema.json) before anything else is done: unknown fields
are refused by name, and everything that is wrong is said at once. The words are those of
[concepts](concepts.md); the keys and their entries are in [schemas](schemas.md).

` + "`fromStep.uses` and `fromStep.with`" + ` are reserved for presets, of which there are none: a config with
either is refused.

`

// configPage returns the reference of the config.
func configPage() (string, error) {
	var config field
	if err := json.Unmarshal(schema.Config(), &config); err != nil {
		return "", err
	}
	item := config.Definitions.find("item")
	var page strings.Builder
	page.WriteString(configIntro)
	for _, part := range []struct {
		heading, prefix string
		field
	}{
		{"The config itself", "", config},
		{"target", "target.", config.Properties.find("target")},
		{"An item of metadata", "metadata[].", item},
		{"fromStep", "metadata[].fromStep.", item.Properties.find("fromStep")},
	} {
		table, err := configTable(part.prefix, part.field)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&page, "## %s\n\n%s\n\n%s\n", part.heading, part.text(), table)
	}
	page.WriteString("## Examples of whole configs\n")
	for _, example := range config.Examples {
		text, err := compact(example)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&page, "\n```json\n%s\n```\n", text)
	}
	return page.String(), nil
}

// configTable returns the fields of an object, each with its path.
func configTable(prefix string, object field) (string, error) {
	var table strings.Builder
	table.WriteString(row("Field", "Type", "Required", "Default", "Limits", "Description", "Examples"))
	table.WriteString(row("---", "---", "---", "---", "---", "---", "---"))
	for _, member := range object.Properties {
		required := "no"
		if slices.Contains(object.Required, member.name) {
			required = "yes"
		}
		kind := strings.Join(member.Type, " or ")
		if kind == "" {
			kind = "any"
		}
		examples := make([]string, len(member.Examples))
		for i, example := range member.Examples {
			text, err := compact(example)
			if err != nil {
				return "", err
			}
			examples[i] = code(text)
		}
		table.WriteString(row(code(prefix+member.name), kind, required, member.fallback(), member.limits(),
			member.text(), strings.Join(examples, ", ")))
	}
	return table.String(), nil
}

// compact returns JSON on one line, a space after each colon and comma as in
// flow-style YAML.
func compact(source json.RawMessage) (string, error) {
	var indented bytes.Buffer
	if err := json.Indent(&indented, source, "", "\t"); err != nil {
		return "", err
	}
	var line strings.Builder
	for part := range strings.Lines(indented.String()) {
		part = strings.TrimSpace(part)
		line.WriteString(part)
		if strings.HasSuffix(part, ",") {
			line.WriteByte(' ')
		}
	}
	return line.String(), nil
}
