package schema

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/xeipuuv/gojsonschema"
)

//go:embed config.schema.json
var configFile []byte

//go:embed request.schema.json
var requestFile []byte

// shape is a schema of the tool's own input. It is draft-07 and validated with
// gojsonschema, as the schemas of Kargo's built-in steps are.
type shape struct {
	document map[string]any
	compiled *gojsonschema.Schema
}

var (
	configShape  = sync.OnceValue(func() *shape { return newShape(configFile) })
	requestShape = sync.OnceValue(func() *shape { return newShape(requestFile) })
)

func newShape(raw []byte) *shape {
	compiled, err := gojsonschema.NewSchema(gojsonschema.NewBytesLoader(raw))
	if err != nil {
		panic(err)
	}
	document, _ := mustParse(raw).(map[string]any)
	return &shape{document, compiled}
}

// Config returns the JSON Schema of the step's configuration, draft-07.
func Config() []byte { return slices.Clone(configFile) }

// Request returns the JSON Schema of a request, draft-07.
func Request() []byte { return slices.Clone(requestFile) }

// ValidateConfig returns everything that is wrong with the shape of a config, a
// JSON-native tree, or nil. It does not look into values, the schemas of items,
// and what with holds.
func ValidateConfig(config any) Problems { return configShape().validate(config) }

// ValidateRequest returns everything that is wrong with the shape of a request,
// {context, outputs, config} as a JSON-native tree, or nil. The config is an
// object, and ValidateConfig's to check; outputs are any object.
func ValidateRequest(request any) Problems { return requestShape().validate(request) }

func (s *shape) validate(v any) Problems {
	// Only strings, booleans and what is pruned reaches the library: it would
	// copy all of a large value, and recurse through a deep one.
	result, err := s.compiled.Validate(gojsonschema.NewGoLoader(s.prune(s.document, v)))
	if err != nil {
		return Problems{{Message: "cannot be validated"}}
	}
	problems := s.explain(result.Errors())
	if len(problems) == 0 {
		return nil
	}
	return problems.Sorted()
}
