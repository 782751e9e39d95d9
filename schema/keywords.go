package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// draft is a version of JSON Schema.
type draft struct {
	name     string // as messages show it
	version  int
	id       string // the keyword that names a schema
	library  *jsonschema.Draft
	keywords map[string]place
}

// place says where the subschemas of a keyword are.
type place int

const (
	nowhere    place = iota // a keyword without subschemas
	data                    // any value, which is not looked into
	one                     // a schema
	list                    // an array of schemas
	members                 // an object of schemas
	oneOrList               // a schema or an array of them
	depends                 // an object of schemas or of arrays of names
	unasserted              // an annotation
)

var draft4Keywords = map[string]place{
	"$schema": nowhere, "$ref": nowhere, "type": nowhere, "multipleOf": nowhere, "maximum": nowhere,
	"exclusiveMaximum": nowhere, "minimum": nowhere, "exclusiveMinimum": nowhere, "maxLength": nowhere,
	"minLength": nowhere, "pattern": nowhere, "maxItems": nowhere, "minItems": nowhere, "uniqueItems": nowhere,
	"maxProperties": nowhere, "minProperties": nowhere, "required": nowhere, "format": nowhere,
	"enum": data, "default": data, "title": unasserted, "description": unasserted,
	"not": one, "additionalProperties": one, "additionalItems": one, "items": oneOrList,
	"allOf": list, "anyOf": list, "oneOf": list, "dependencies": depends,
	// $defs is a container in every draft: in the old ones it is reached by $ref alone.
	"definitions": members, "$defs": members, "properties": members, "patternProperties": members,
	// Annotations of the newer drafts do no harm in the older ones.
	"examples": data, "$comment": unasserted, "readOnly": unasserted, "writeOnly": unasserted,
	"deprecated": unasserted, "contentEncoding": unasserted, "contentMediaType": unasserted,
}

var (
	draft6Keywords    = with(draft4Keywords, map[string]place{"const": data, "contains": one, "propertyNames": one})
	draft7Keywords    = with(draft6Keywords, map[string]place{"if": one, "then": one, "else": one})
	draft2019Keywords = with(draft7Keywords, map[string]place{
		"$anchor": nowhere, "$recursiveRef": nowhere, "$recursiveAnchor": nowhere, "dependentRequired": nowhere,
		"maxContains": nowhere, "minContains": nowhere, "dependentSchemas": members, "contentSchema": one,
		"unevaluatedItems": one, "unevaluatedProperties": one,
	})
	draft2020Keywords = without(with(draft2019Keywords, map[string]place{
		"$dynamicRef": nowhere, "$dynamicAnchor": nowhere, "prefixItems": list, "items": one,
	}), "$recursiveRef", "$recursiveAnchor", "additionalItems")
)

// drafts are the supported versions, the newest, which is the default, last.
var drafts = []*draft{
	{"draft-04", 4, "id", jsonschema.Draft4, with(draft4Keywords, map[string]place{"id": nowhere})},
	{"draft-06", 6, "$id", jsonschema.Draft6, with(draft6Keywords, map[string]place{"$id": nowhere})},
	{"draft-07", 7, "$id", jsonschema.Draft7, with(draft7Keywords, map[string]place{"$id": nowhere})},
	{"2019-09", 2019, "$id", jsonschema.Draft2019, with(draft2019Keywords, map[string]place{"$id": nowhere})},
	{"2020-12", 2020, "$id", jsonschema.Draft2020, with(draft2020Keywords, map[string]place{"$id": nowhere})},
}

// needs are keywords that check nothing without another one.
var needs = map[string]string{
	"then": "if", "else": "if", "minContains": "contains", "maxContains": "contains",
}

// draftOf returns the draft of a $schema, or nil if it is not supported.
func draftOf(name string) *draft {
	name = strings.TrimSuffix(name, "#")
	for _, d := range drafts {
		_, address, _ := strings.Cut(d.library.String(), "://")
		if name == "https://"+address || name == "http://"+address {
			return d
		}
	}
	return nil
}

// draftNames returns what $schema may be, for messages.
func draftNames() string {
	names := make([]string, len(drafts))
	for i, d := range drafts {
		names[i] = d.library.String()
	}
	return strings.Join(names, ", ")
}

// draftsWith returns the names of the drafts that have the keyword.
func draftsWith(keyword string) []string {
	var names []string
	for _, d := range drafts {
		if _, has := d.keywords[keyword]; has {
			names = append(names, d.name)
		}
	}
	return names
}

// unknown returns the message for a keyword that the draft does not have.
func (d *draft) unknown(keyword string) string {
	if others := draftsWith(keyword); len(others) > 0 {
		return "keyword " + keyword + " checks nothing in " + d.name + "; it belongs to " + strings.Join(others, ", ") +
			": see $schema"
	}
	return "unknown keyword " + wording.Name(keyword) + wording.Hint(keyword, slices.Collect(maps.Keys(d.keywords)))
}

func with(base, more map[string]place) map[string]place {
	all := maps.Clone(base)
	maps.Copy(all, more)
	return all
}

func without(base map[string]place, keywords ...string) map[string]place {
	for _, keyword := range keywords {
		delete(base, keyword)
	}
	return base
}
