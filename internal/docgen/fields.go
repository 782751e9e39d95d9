package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// field is a JSON Schema as far as the pages show it.
type field struct {
	Title         string            `json:"title"`
	Description   string            `json:"description"`
	Type          types             `json:"type"`
	Enum          []string          `json:"enum"`
	Default       *string           `json:"default"`
	Format        string            `json:"format"`
	Pattern       string            `json:"pattern"`
	MinLength     *int              `json:"minLength"`
	MaxLength     *int              `json:"maxLength"`
	Minimum       *int              `json:"minimum"`
	Maximum       *int              `json:"maximum"`
	MaxItems      *int              `json:"maxItems"`
	MaxProperties *int              `json:"maxProperties"`
	Required      []string          `json:"required"`
	AnyOf         []field           `json:"anyOf"`
	Properties    fields            `json:"properties"`
	Definitions   fields            `json:"definitions"`
	Entries       json.RawMessage   `json:"additionalProperties"`
	Examples      []json.RawMessage `json:"examples"`
}

// types are the types of a schema: one name, or a list of them.
type types []string

func (t *types) UnmarshalJSON(source []byte) error {
	var name string
	if err := json.Unmarshal(source, &name); err == nil {
		*t = types{name}
		return nil
	}
	return json.Unmarshal(source, (*[]string)(t))
}

// named is a member of a schema's properties.
type named struct {
	name string
	field
}

// fields are properties in the order of the file.
type fields []named

func (f *fields) UnmarshalJSON(source []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(source))
	if _, err := decoder.Token(); err != nil {
		return err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var member named
		if err := decoder.Decode(&member.field); err != nil {
			return fmt.Errorf("%v: %w", name, err)
		}
		member.name, _ = name.(string)
		*f = append(*f, member)
	}
	return nil
}

// find returns the member of a name; the zero value when there is none.
func (f fields) find(name string) field {
	for _, member := range f {
		if member.name == name {
			return member.field
		}
	}
	return field{}
}

// defaultMark begins the end of a description that says the default.
const defaultMark = " Default: "

// text returns the description without the default, as Markdown.
func (f field) text() string {
	text, _, _ := strings.Cut(f.Description, defaultMark)
	return strings.ReplaceAll(text, "<", "&lt;")
}

// fallback returns the default: the description's words, or the keyword's value.
func (f field) fallback() string {
	if _, words, found := strings.Cut(f.Description, defaultMark); found {
		return strings.TrimSuffix(words, ".")
	}
	if f.Default != nil {
		return code(*f.Default)
	}
	return ""
}

// limits returns what a value has to keep to, beside its type.
func (f field) limits() string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if len(f.Enum) > 0 {
		quoted := make([]string, len(f.Enum))
		for i, word := range f.Enum {
			quoted[i] = code(word)
		}
		add("one of %s", strings.Join(quoted, ", "))
	}
	if f.MaxLength != nil {
		add("%s characters", span(f.MinLength, f.MaxLength))
	}
	if f.Minimum != nil && f.Maximum != nil {
		add("%d to %d", *f.Minimum, *f.Maximum)
	}
	if f.MaxItems != nil {
		add("at most %d items", *f.MaxItems)
	}
	if f.MaxProperties != nil {
		add("at most %d members", *f.MaxProperties)
	}
	if f.Format != "" {
		add("format %s", code(f.Format))
	}
	if f.Pattern != "" && !strings.Contains(f.Pattern, `\x00`) {
		add("pattern %s", code(f.Pattern))
	}
	return strings.Join(all, "; ")
}

func span(least, most *int) string {
	if least != nil {
		return strconv.Itoa(*least) + " to " + strconv.Itoa(*most)
	}
	return "at most " + strconv.Itoa(*most)
}

// code returns text as code within a table's cell.
func code(text string) string { return "`" + text + "`" }

// row returns a row of a table; a | within a cell would end the cell.
func row(cells ...string) string {
	escaped := slices.Clone(cells)
	for i, cell := range escaped {
		escaped[i] = strings.ReplaceAll(strings.ReplaceAll(cell, "|", `\|`), "\n", " ")
	}
	return "| " + strings.Join(escaped, " | ") + " |\n"
}
