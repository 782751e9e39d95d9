package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kargo-steps/publish-metadata/schema"
)

const schemasIntro = `# The well-known keys

What stands under ` + "`status.metadata.<key>`" + `: a map of entries, each of them with the fields below and no
others. An entry's name is yours to choose. Where a value is a list, its elements become entries that are
named by their own fields, as each section says.

A string is one line without control characters unless it says otherwise. The format ` + "`web-url`" + ` is
an absolute http or https URL with a host, and without user name, password, backslash, white space or control
characters. Further limits are in [security](security.md). A key of your own, such as
` + "`example.com/release`" + `, brings its schema in the item: see [concepts](concepts.md#keys-and-schemas).
`

// schemasPage returns the reference of the well-known keys.
func schemasPage() (string, error) {
	registry, err := schema.NewRegistry()
	if err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString(schemasIntro)
	for _, key := range append(registry.Keys(), schema.Provenance) {
		found, _ := registry.Lookup(key)
		section, err := keySection(key, found)
		if err != nil {
			return "", fmt.Errorf("%s: %w", key, err)
		}
		page.WriteString(section)
	}
	return page.String(), nil
}

// keySection returns one key: what it is for, how a list is named, its fields.
func keySection(key string, found *schema.Schema) (string, error) {
	var whole, entry field
	if err := json.Unmarshal(found.Raw(), &whole); err != nil {
		return "", err
	}
	if err := json.Unmarshal(whole.Entries, &entry); err != nil {
		return "", err
	}
	var section strings.Builder
	fmt.Fprintf(&section, "\n## %s\n\n%s", key, whole.Description)
	if names := listNames(found.EntryNames()); names != "" {
		fmt.Fprintf(&section, " An element of a list is named by its %s.", names)
	}
	section.WriteString(alternatives(entry))
	section.WriteString("\n\n" + row("Field", "Type", "Required", "Default", "Limits", "Description"))
	section.WriteString(row("---", "---", "---", "---", "---", "---"))
	for _, member := range entry.Properties {
		required := "no"
		if slices.Contains(entry.Required, member.name) {
			required = "yes"
		}
		section.WriteString(row(code(member.name), strings.Join(member.Type, " or "), required, member.fallback(),
			member.limits(), member.text()))
	}
	return section.String(), nil
}

// listNames returns how an element of a list is named: "`system`/`key`", or
// "`name`, or else its `digest`".
func listNames(choices [][]string) string {
	all := make([]string, len(choices))
	for i, parts := range choices {
		quoted := make([]string, len(parts))
		for j, part := range parts {
			quoted[j] = code(part)
		}
		all[i] = strings.Join(quoted, "/")
	}
	return strings.Join(all, ", or else its ")
}

// alternatives says which of several fields is required, or "".
func alternatives(entry field) string {
	var names []string
	for _, choice := range entry.AnyOf {
		for _, name := range choice.Required {
			names = append(names, code(name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " At least one of " + strings.Join(names, ", ") + " is required."
}
