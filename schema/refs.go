package schema

import (
	"net/url"
	"strings"
)

// references are the names and the references of one schema document. They are
// resolved here, so that a reference that leaves the document, or that points
// at something that is not a schema and was not looked at, is refused by its
// place.
type references struct {
	draft     *draft
	resources map[string]string            // URL of each schema with an $id -> its JSON Pointer
	anchors   map[string]map[string]string // URL -> anchor -> JSON Pointer
	uses      []reference
	problems  Problems
}

type reference struct {
	pointer string
	base    string
	target  string
}

func newReferences(d *draft) references {
	return references{
		draft:     d,
		resources: map[string]string{documentURL: ""},
		anchors:   map[string]map[string]string{},
	}
}

// collect notes what the schema at pointer declares and refers to. It returns
// the base for the schemas in it.
func (r *references) collect(object map[string]any, pointer, base string) string {
	_, hasRef := object["$ref"]
	if id, ok := object[r.draft.id].(string); ok && (!hasRef || r.draft.version >= 2019) {
		base = r.identify(id, pointer, base)
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if anchor, ok := object[keyword].(string); ok {
			r.anchor(base, anchor, pointer)
		}
	}
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		if target, ok := object[keyword].(string); ok {
			r.uses = append(r.uses, reference{pointer + "/" + keyword, base, target})
		}
	}
	return base
}

func (r *references) identify(id, pointer, base string) string {
	at := pointer + "/" + r.draft.id
	address, anchor, _ := strings.Cut(id, "#")
	if address != "" {
		joined, ok := join(base, address)
		if !ok {
			r.problems.Add(at, "is not a valid URL")
			return base
		}
		if _, taken := r.resources[joined]; taken {
			r.problems.Add(at, "is the %s of another schema in this document", r.draft.id)
		}
		base = joined
		r.resources[base] = pointer
	}
	if anchor != "" && !strings.HasPrefix(anchor, "/") {
		r.anchor(base, anchor, pointer)
	}
	return base
}

func (r *references) anchor(base, name, pointer string) {
	if r.anchors[base] == nil {
		r.anchors[base] = map[string]string{}
	}
	r.anchors[base][name] = pointer
}

// check resolves all references. places holds the JSON Pointers of all schemas.
func (r *references) check(places map[string]any) Problems {
	for _, use := range r.uses {
		address, fragment, _ := strings.Cut(use.target, "#")
		fragment, err := url.PathUnescape(fragment)
		if err != nil {
			r.problems.Add(use.pointer, "is not a valid reference")
			continue
		}
		target := use.base
		if address != "" {
			joined, ok := join(use.base, address)
			if !ok {
				r.problems.Add(use.pointer, "is not a valid reference")
				continue
			}
			target = joined
		}
		resource, local := r.resources[target]
		switch {
		case !local:
			r.problems.Add(use.pointer, "refers to something outside this document, which is never read; copy it under $defs")
		case fragment == "" || strings.HasPrefix(fragment, "/"):
			if _, found := places[resource+fragment]; !found {
				r.problems.Add(use.pointer, "refers to something that is not a schema of this document")
			}
		default:
			if _, found := r.anchors[target][fragment]; !found {
				r.problems.Add(use.pointer, "refers to an anchor that this document does not have")
			}
		}
	}
	return r.problems
}

// join resolves an address against a base, as the library does.
func join(base, address string) (string, bool) {
	from, err := url.Parse(base)
	if err != nil {
		return "", false
	}
	to, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	resolved := from.ResolveReference(to)
	if !to.IsAbs() && from.Opaque != "" {
		resolved.Opaque = from.Opaque
	}
	return resolved.String(), true
}
