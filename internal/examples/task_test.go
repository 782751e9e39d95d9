package examples_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const linksText = `
- key: links
  fromExpression: |
    {argocd: {url: outputs.deploy.url, label: "Argo CD"}}
`

// publishStep is the task's reference in a template, as ship.
func publishStep(vars ...variable) promotionStep {
	step := promotionStep{As: "ship", Vars: vars}
	step.Task = &struct{ Name, Kind string }{"publish-metadata", "ClusterPromotionTask"}
	return step
}

// body returns what the task sends with its variables, as the JSON that it is.
func body(t *testing.T, p *promotion, vars ...variable) map[string]any {
	t.Helper()
	config, err := p.config(inflate(t, publishStep(vars...))[0])
	require.NoError(t, err)
	var document map[string]any
	require.NoError(t, json.Unmarshal([]byte(config["body"].(string)), &document))
	return document
}

func TestTheBodyOfTheTask(t *testing.T) {
	outputs := map[string]any{"deploy": map[string]any{"url": "https://a.example.com"}, "clone": map[string]any{"token": "canary"}}
	cases := map[string]struct {
		vars   []variable
		member string
		want   any
	}{
		"without variables, nothing is published":       {nil, "metadata", "[]"},
		"metadata is YAML text":                         {[]variable{{"metadata", linksText}}, "metadata", linksText},
		"metadata is a list where ${{ }} gives one":     {[]variable{{"metadata", `${{ [{'key': 'links', 'value': {'a': {'url': outputs.deploy.url} } }] }}`}}, "metadata", []any{map[string]any{"key": "links", "value": map[string]any{"a": map[string]any{"url": "https://a.example.com"}}}}},
		"the producer is the task's alias":              {nil, "producer", "ship"},
		"a producer of one's own":                       {[]variable{{"producer", "web-links"}}, "producer", "web-links"},
		"all outputs are sent":                          {nil, "outputs", outputs},
		"a template sends a subset of the outputs":      {[]variable{{"outputs", `${{ {'deploy': outputs.deploy} }}`}}, "outputs", map[string]any{"deploy": outputs["deploy"]}},
		"a template sends no outputs":                   {[]variable{{"outputs", `${{ {} }}`}}, "outputs", map[string]any{}},
		"the target is left to the service":             {nil, "target", nil},
		"the target is the promoted Freight":            {[]variable{{"target", "freight"}}, "target", map[string]any{"kind": "Freight"}},
		"the target is another Stage":                   {[]variable{{"target", `${{ {'kind': 'Stage', 'name': 'prod'} }}`}}, "target", map[string]any{"kind": "Stage", "name": "prod"}},
		"the settle window is left to the service":      {nil, "settle", nil},
		"a settle window of one's own":                  {[]variable{{"settle", "2s"}}, "settle", "2s"},
		"the last value of a variable counts":           {[]variable{{"producer", "a"}, {"producer", "b"}}, "producer", "b"},
		"a variable may be made of variables before it": {[]variable{{"name", "web"}, {"producer", "${{ vars.name }}-links"}}, "producer", "web-links"},
		"nothing beside the documented members":         {nil, "config", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := newPromotion("")
			p.state = outputs
			assert.Equal(t, c.want, body(t, p, c.vars...)[c.member])
		})
	}
}

func TestTheTaskSendsItsContext(t *testing.T) {
	context := body(t, newPromotion(""))["context"].(map[string]any)
	assert.Equal(t, "demo", context["project"])
	assert.Equal(t, "test", context["stage"])
	assert.Equal(t, "test.01", context["promotion"])
	assert.Equal(t, "ship::publish", context["meta"].(map[string]any)["step"].(map[string]any)["alias"])
}

// No default may be empty, and no expression of the task may hold }}, which ends it.
func TestTheTaskIsWrittenAsKargoNeedsIt(t *testing.T) {
	steps, vars := stepsOf(t, "kargo-http/clusterpromotiontask.yaml", "ClusterPromotionTask", "spec")
	for _, v := range vars {
		assert.NotEmpty(t, v.Value, v.Name)
	}
	for _, step := range steps {
		encoded, err := json.Marshal(step.Config)
		require.NoError(t, err)
		assert.Equal(t, strings.Count(string(encoded), "${{"), strings.Count(string(encoded), "}}"))
	}
	assert.Equal(t, 5, steps[0].Retry.ErrorThreshold)
	assert.Equal(t, "5m", steps[0].Retry.Timeout)
}

func TestTheTaskPublishes(t *testing.T) {
	cluster := newAPI(t)
	p := newPromotion(newService(t, cluster, nil))
	p.state["deploy"] = map[string]any{"url": "https://cd.example.com/applications/argocd/web"}
	end := p.run(t, inflate(t, publishStep(variable{"metadata", linksText}))...)
	require.Equal(t, succeeded, end.status, end.message)
	link := map[string]any{"url": "https://cd.example.com/applications/argocd/web", "label": "Argo CD"}
	assert.Equal(t, map[string]any{"argocd": link}, cluster.metadata()["links"])
	assert.Contains(t, cluster.metadata()["provenance"], "ship", "the task's alias is the producer")
	assert.Equal(t, map[string]any{
		"published": map[string]any{"links": []any{"argocd"}}, "links": []any{link}, "changed": true,
	}, p.state["ship"], "the outputs of the task")
	assert.NotContains(t, p.state["ship::publish"], "links", "Kargo would show each link twice")

	again := p.run(t, inflate(t, publishStep(variable{"metadata", linksText}))...)
	require.Equal(t, succeeded, again.status, again.message)
	assert.Equal(t, false, p.state["ship"].(map[string]any)["changed"], "what is false or empty stays what it is")
	withdrawn := p.run(t, inflate(t, publishStep())...)
	require.Equal(t, succeeded, withdrawn.status, withdrawn.message)
	assert.Equal(t, map[string]any{"published": map[string]any{}, "links": []any{}, "changed": true}, p.state["ship"])
}

func TestValuesArriveUnharmed(t *testing.T) {
	for _, url := range []string{
		`https://a.example.com/?q="quoted"&r='single'`,
		`https://a.example.com/?a=1&b=2&c=<x>`,
		`https://a.example.com/näme/名前/🚀`,
		`https://a.example.com/${{%20ctx.stage%20}}/}}/{{x}}`,
		`https://a.example.com/#key:-value,[x]{y}|>`,
		`https://a.example.com/%22%5C%5Cn%0A`,
	} {
		t.Run(url, func(t *testing.T) {
			cluster := newAPI(t)
			p := newPromotion(newService(t, cluster, nil))
			p.state["deploy"] = map[string]any{"url": url}
			end := p.run(t, inflate(t, publishStep(variable{"metadata", linksText}))...)
			require.Equal(t, succeeded, end.status, end.message)
			links := cluster.metadata()["links"].(map[string]any)
			assert.Equal(t, url, links["argocd"].(map[string]any)["url"])
			listed := p.state["ship"].(map[string]any)["links"].([]any)
			assert.Equal(t, url, listed[0].(map[string]any)["url"], "in the output of the task")
		})
	}
}

// The Stage of the example publishes, and reads what it has published.
func TestTheStageOfTheExample(t *testing.T) {
	cluster := newAPI(t)
	p := newPromotion(newService(t, cluster, nil))
	p.stageMetadata = func(string) map[string]any { return cluster.metadata() }
	steps, _ := stepsOf(t, "kargo-http/stage.yaml", "Stage", "spec", "promotionTemplate", "spec")
	end := p.run(t, inflate(t, steps...)...)
	require.Equal(t, succeeded, end.status, end.message)
	const url = "https://cd.example.com/applications/argocd/web"
	assert.Equal(t, map[string]any{"argocd": map[string]any{"url": url, "label": "Argo CD"}}, cluster.metadata()["links"])
	assert.Equal(t, map[string]any{"argocd/web": map[string]any{"name": "web", "namespace": "argocd"}}, cluster.metadata()["applications"])
	assert.Equal(t, map[string]any{"url": url}, p.state["read"])
}
