package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// documentURL is the base of a schema without an $id. Nothing can be read from it.
const documentURL = "schema://document/root.json"

// maxSchemas is how many subschemas one schema may have: the library's
// compiler searches them linearly.
const maxSchemas = 2000

// maxCount is the largest limit that the library can compare a length with.
const maxCount = 1 << 31

// linter looks at a bounded schema document before the library does.
type linter struct {
	draft        *draft
	problems     Problems
	places       map[string]any // JSON Pointer of each schema -> the schema
	refs         references
	patternsSize int
}

// lint returns what it found out about the document, and every problem.
func lint(document any) (*linter, Problems) {
	l := &linter{places: map[string]any{}}
	l.draft = drafts[len(drafts)-1]
	switch root := document.(type) {
	case bool:
	case map[string]any:
		if name, has := root["$schema"]; has {
			text, _ := name.(string)
			if l.draft = draftOf(text); l.draft == nil {
				l.problems.Add("/$schema", "is none of the supported drafts: %s", draftNames())
				return l, l.problems
			}
		}
	default:
		l.problems.Add("", "a schema has to be an object or a boolean")
		return l, l.problems
	}
	l.refs = newReferences(l.draft)
	l.schema(document, "", documentURL)
	if len(l.places) > maxSchemas {
		return l, Problems{{Message: fmt.Sprintf("the schema has more than %d subschemas", maxSchemas)}}
	}
	l.problems = append(l.problems, l.refs.check(l.places)...)
	return l, l.problems
}

// schema looks at one schema and at those in it. base is the URL that the
// references in it are relative to.
func (l *linter) schema(v any, pointer, base string) {
	if len(l.places) > maxSchemas {
		return
	}
	l.places[pointer] = v
	object, ok := v.(map[string]any)
	if !ok {
		if _, ok := v.(bool); !ok {
			l.problems.Add(pointer, "a schema has to be an object or a boolean")
		}
		return
	}
	l.siblings(object, pointer)
	base = l.refs.collect(object, pointer, base)
	for _, keyword := range tree.SortedKeys(object) {
		at := pointer + Pointer(keyword)
		kind, known := l.draft.keywords[keyword]
		if !known {
			if len(keyword) < 2 || keyword[:2] != "x-" {
				l.problems.Add(at, "%s", l.draft.unknown(keyword))
			}
			continue
		}
		l.value(keyword, object[keyword], at)
		l.descend(kind, object[keyword], at, base)
	}
}

// siblings refuses keywords that have no effect because of where they stand.
func (l *linter) siblings(object map[string]any, pointer string) {
	if _, nested := object["$schema"]; nested && pointer != "" {
		l.problems.Add(pointer+"/$schema", "$schema is for the whole document; remove it here")
	}
	for keyword, other := range needs {
		_, has := object[keyword]
		_, hasOther := object[other]
		if has && !hasOther {
			l.problems.Add(pointer+"/"+keyword, "%s checks nothing without %s", keyword, other)
		}
	}
	if _, has := object["additionalItems"]; has && l.draft.version < 2020 {
		if _, ok := object["items"].([]any); !ok {
			l.problems.Add(pointer+"/additionalItems", "additionalItems checks nothing unless items is an array")
		}
	}
	if _, has := object["$ref"]; !has || l.draft.version >= 2019 {
		return
	}
	for _, keyword := range tree.SortedKeys(object) {
		switch l.draft.keywords[keyword] {
		case unasserted, data, members:
			if keyword != "enum" && keyword != "const" && keyword != "properties" && keyword != "patternProperties" {
				continue
			}
		}
		if _, known := l.draft.keywords[keyword]; known && keyword != "$ref" && keyword != "$schema" {
			l.problems.Add(pointer+Pointer(keyword), "%s is ignored beside $ref in %s; use allOf, or a newer $schema", keyword, l.draft.name)
		}
	}
}

// value checks a keyword's own value where the library would not, or would
// quote it.
func (l *linter) value(keyword string, v any, at string) {
	switch keyword {
	case "format":
		if name, ok := v.(string); ok && !slices.Contains(formatNames(), name) {
			l.problems.Add(at, "unknown format%s", wording.Hint(name, formatNames()))
		}
	case "pattern":
		if pattern, ok := v.(string); ok {
			l.pattern(pattern, at)
		}
	case "patternProperties":
		object, _ := v.(map[string]any)
		for _, pattern := range tree.SortedKeys(object) {
			l.pattern(pattern, at+Pointer(pattern))
		}
	case "maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties", "maxContains", "minContains":
		switch number := tree.Canonical(v).(type) {
		case int64:
			if number > maxCount {
				l.problems.Add(at, "is larger than %d", maxCount)
			}
		case float64:
			l.problems.Add(at, "has to be a whole number of at most %d", maxCount)
		}
	case "$recursiveRef":
		if v != "#" {
			l.problems.Add(at, "has to be #")
		}
	}
}

func (l *linter) pattern(pattern, at string) {
	size, problem := checkPattern(pattern)
	if problem != "" {
		l.problems.Add(at, "%s", problem)
		return
	}
	if l.patternsSize <= maxPatternsTotal && l.patternsSize+size > maxPatternsTotal {
		l.problems.Add(at, "the regular expressions of the schema are too large together: over %d steps", maxPatternsTotal)
	}
	l.patternsSize += size
}

// descend looks at the subschemas of a keyword. Values of the wrong shape are
// left to the metaschema.
func (l *linter) descend(kind place, v any, at, base string) {
	switch kind {
	case one:
		l.schema(v, at, base)
		return
	case oneOrList:
		if _, ok := v.([]any); !ok {
			l.schema(v, at, base)
			return
		}
	case nowhere, data, unasserted:
		return
	}
	switch v := v.(type) {
	case []any:
		for i, sub := range v {
			l.schema(sub, at+"/"+strconv.Itoa(i), base)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if _, names := v[name].([]any); names && kind == depends {
				continue
			}
			l.schema(v[name], at+Pointer(name), base)
		}
	}
}
