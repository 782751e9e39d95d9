package examples_test

import (
	"strings"
	"testing"
	"text/template"

	"github.com/expr-lang/expr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stageLinks returns the titles and URLs that Kargo shows for a Stage: a condition
// is an expression, a URL a Go template; one that fails is shown as an error.
func stageLinks(t *testing.T, stage map[string]any) (shown map[string]string, errs []error) {
	t.Helper()
	env := map[string]any{"stage": stage}
	shown = make(map[string]string)
	links, _ := find(t, "kargo-http/project.yaml", "ProjectConfig", "demo")["stageLinks"].([]any)
	require.NotEmpty(t, links)
	for _, one := range links {
		link := one.(map[string]any)
		holds, err := expr.Eval(link["if"].(string), env)
		if err != nil {
			errs = append(errs, err)
		}
		if holds != true {
			continue
		}
		parsed, err := template.New("").Parse(link["url"].(string))
		require.NoError(t, err)
		var url strings.Builder
		if err := parsed.Execute(&url, env); err != nil {
			errs = append(errs, err)
			continue
		}
		shown[link["title"].(string)] = url.String()
	}
	return shown, errs
}

func TestStageLinksShowWhatIsPublished(t *testing.T) {
	with := func(links map[string]any) map[string]any {
		return map[string]any{"status": map[string]any{"metadata": map[string]any{"links": links}}}
	}
	link := func(url any) map[string]any { return map[string]any{"url": url} }
	cases := map[string]struct {
		stage map[string]any
		want  map[string]string
	}{
		"a Stage without a status":       {map[string]any{}, map[string]string{}},
		"a Stage that never published":   {map[string]any{"status": map[string]any{}}, map[string]string{}},
		"a Stage without links":          {map[string]any{"status": map[string]any{"metadata": map[string]any{"checks": map[string]any{}}}}, map[string]string{}},
		"links of others alone":          {with(map[string]any{"docs": link("https://a.example.com")}), map[string]string{}},
		"one of the links":               {with(map[string]any{"argocd": link(`https://a.example.com/?a=1&b="x"`)}), map[string]string{"Argo CD": `https://a.example.com/?a=1&b="x"`}},
		"both links":                     {with(map[string]any{"argocd": link("https://a.example.com"), "team-dashboard": link("http://b.example.com")}), map[string]string{"Argo CD": "https://a.example.com", "Dashboard": "http://b.example.com"}},
		"a script that set-metadata set": {with(map[string]any{"argocd": link("javascript:alert(1)")}), map[string]string{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			shown, errs := stageLinks(t, c.stage)
			assert.Empty(t, errs)
			assert.Equal(t, c.want, shown)
		})
	}
}
