package schema

import (
	"errors"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// errOutside is what the loader says to every address.
var errOutside = errors.New("nothing outside the document is read")

// nothing is the loader of the compiler: no file is opened, and no connection.
type nothing struct{}

func (nothing) Load(string) (any, error) { return nil, errOutside }

// Compile returns the schema of a document: an object or a boolean in JSON-native
// form. The error is Problems, whose pointers are into the document and whose
// messages quote no scalar of it. Refused are documents of more than 64 KiB of
// text, 10 000 parts or 32 levels, keywords and formats that check nothing,
// drafts other than 4, 6, 7, 2019-09 and 2020-12 (the default), references out
// of the document, regular expressions that Go lacks or that are too large, and
// schemas that could be applied to one value without end.
func Compile(document any) (*Schema, error) {
	return compile(document, false, nil)
}

// compile compiles a document. The messages of an open one, which comes with
// the tool or is registered with the door, show its enums and patterns.
func compile(document any, open bool, budget *Budget) (*Schema, error) {
	size, problems := schemaBounds.check(document)
	if problems == nil {
		problems = budget.takeDocument(size)
	}
	if problems != nil {
		return nil, problems
	}
	document = copyTree(document)
	l, problems := lint(document)
	if len(problems) > 0 {
		return nil, problems.Sorted()
	}
	if problems := budget.takePatterns(l.patternsSize); problems != nil {
		return nil, problems
	}
	names, problems := entryNames(document)
	if len(problems) > 0 {
		return nil, problems.Sorted()
	}
	s := &Schema{document: document, raw: encode(document), names: names, open: open, meter: &meter{}}
	roots, problems := compileLibrary(document, l, s.meter)
	if len(problems) > 0 {
		return nil, problems.Sorted()
	}
	s.compiled = roots[0]
	s.graph = newGraph(roots, l.places)
	if problems := s.graph.check(); len(problems) > 0 {
		return nil, problems.Sorted()
	}
	s.graph.install(s.meter)
	return s, nil
}

// compileLibrary returns the compiled root, and after it the schemas that only
// a dynamic reference can reach.
func compileLibrary(document any, l *linter, m *meter) (roots []*jsonschema.Schema, problems Problems) {
	defer func() {
		if recover() != nil {
			roots, problems = nil, Problems{{Message: "the schema cannot be compiled"}}
		}
	}()
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nothing{})
	compiler.DefaultDraft(l.draft.library)
	compiler.AssertFormat()
	compiler.UseRegexpEngine(engine(m))
	registerFormats(compiler)
	if err := compiler.AddResource(documentURL, document); err != nil {
		return nil, Problems{{Message: "the schema cannot be compiled"}}
	}
	locations := []string{documentURL}
	for _, pointer := range slices.Sorted(maps.Keys(l.places)) {
		if object, ok := l.places[pointer].(map[string]any); ok && object["$dynamicAnchor"] != nil {
			locations = append(locations, documentURL+"#"+escapeFragment(pointer))
		}
	}
	for _, location := range locations {
		compiled, err := compiler.Compile(location)
		if err != nil {
			return nil, compileProblems(err)
		}
		roots = append(roots, compiled)
	}
	return roots, nil
}

// engine compiles the regular expressions of a schema, which lint has bounded.
func engine(m *meter) jsonschema.RegexpEngine {
	return func(pattern string) (jsonschema.Regexp, error) {
		size, problem := checkPattern(pattern)
		if problem != "" {
			return nil, errors.New(problem)
		}
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		return &meteredRegexp{compiled, size, m}, nil
	}
}

// compileProblems rewrites an error of the compiler.
func compileProblems(err error) Problems {
	var invalid *jsonschema.SchemaValidationError
	var failure *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &failure) {
		pointer := ""
		if _, fragment, found := strings.Cut(invalid.URL, "#"); found {
			pointer, _ = url.PathUnescape(fragment)
		}
		explain := explainer{open: true}
		return explain.problems(failure).Under(pointer)
	}
	return Problems{{Message: "the schema cannot be compiled: a name or a reference in it is not valid"}}
}

func escapeFragment(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		tokens[i] = url.PathEscape(token)
	}
	return strings.Join(tokens, "/")
}
