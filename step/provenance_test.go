package step_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/schema"
	"github.com/kargo-steps/publish-metadata/step"
)

// odd are texts that a context may have anywhere.
var odd = []string{
	"", "a", "A.b", "test.01.abc", "a b", "a\nb", "a\tb", "a\x00b", "a\u0085b", "a\u2028b", "a\u200bb", "a/b", "ship::a", "-", "_a", "ünïcode",
	"email:ann@example.com", "../a", `"`, "{{", string(make([]byte, 300)),
}

func TestEveryProvenanceThatIsWrittenIsValid(t *testing.T) {
	registry, err := schema.NewRegistry()
	require.NoError(t, err)
	provenance, _ := registry.Lookup(schema.Provenance)
	places := map[string]func(context, config map[string]any, text string){
		"promotion": func(context, _ map[string]any, text string) { context["promotion"] = text },
		"freight":   func(context, _ map[string]any, text string) { context["targetFreight"] = map[string]any{"name": text} },
		"actor": func(context, _ map[string]any, text string) {
			context["meta"].(map[string]any)["promotion"] = map[string]any{"actor": text, "rollback": true}
		},
		"step": func(context, _ map[string]any, text string) {
			context["meta"] = map[string]any{"step": map[string]any{"alias": text}}
		},
		"step beside a producer": func(context, config map[string]any, text string) {
			context["meta"] = map[string]any{"step": map[string]any{"alias": text}}
			config["producer"] = "deploy"
		},
		"stage":   func(context, _ map[string]any, text string) { context["stage"] = text },
		"project": func(context, _ map[string]any, text string) { context["project"] = text },
		"entry": func(_, config map[string]any, text string) {
			config["metadata"] = []any{map[string]any{"key": "example.com/x", "schema": map[string]any{}, "value": map[string]any{text: 1}}}
		},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			written := 0
			for _, text := range odd {
				r := request(nil, map[string]any{"key": "links", "value": map[string]any{"a": map[string]any{"url": "https://a.example.com"}}})
				place(r.Context.(map[string]any), r.Config.(map[string]any), text)
				manifest, runner := newManifest(t)
				if _, err := runner.Run(t.Context(), r); err != nil {
					require.Contains(t, []step.Kind{step.Invalid, step.NotFound, step.Superseded}, kindOf(t, err), "%q", text)
					require.False(t, manifest.Changed())
					continue
				}
				if !manifest.Changed() {
					continue
				}
				written++
				var object map[string]any
				require.NoError(t, yaml.Unmarshal(mustBytes(t, manifest), &object))
				metadata := object["status"].(map[string]any)["metadata"].(map[string]any)
				native, problems := value.Native(metadata[schema.Provenance], "", value.DefaultLimits)
				require.Empty(t, problems)
				require.Empty(t, provenance.Validate(native), "%q", text)
			}
			if name != "stage" && name != "project" {
				require.Positive(t, written)
			}
		})
	}
}

func mustBytes(t testing.TB, manifest *step.Manifest) []byte {
	t.Helper()
	text, err := manifest.Bytes()
	require.NoError(t, err)
	return text
}
