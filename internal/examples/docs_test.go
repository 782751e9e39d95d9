package examples_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

var pasted = regexp.MustCompile("(?s)<!-- example: http -->\n```yaml\n(.*?)```")

// The step to paste publishes, and judges replies as the task does.
func TestTheStepOfTheDocs(t *testing.T) {
	found := pasted.FindSubmatch(read(t, "docs", "http.md"))
	require.NotNil(t, found)
	var steps []promotionStep
	require.NoError(t, yaml.UnmarshalStrict(found[1], &steps))
	require.Len(t, steps, 1)
	task, _ := stepsOf(t, "kargo-http/clusterpromotiontask.yaml", "ClusterPromotionTask", "spec")
	for _, name := range []string{"method", "headers", "timeout", "pollInterval", "successExpression", "failureExpression", "errorExpression"} {
		require.NotEmpty(t, task[0].Config[name])
		assert.Equal(t, task[0].Config[name], steps[0].Config[name], name)
	}
	assert.Equal(t, task[0].Retry, steps[0].Retry)

	cluster := newAPI(t)
	p := newPromotion(newService(t, cluster, nil))
	p.state["deploy"] = map[string]any{"url": `https://cd.example.com/?q="x"&y=}}`}
	end := p.run(t, steps...)
	require.Equal(t, succeeded, end.status, end.message)
	link := map[string]any{"url": `https://cd.example.com/?q="x"&y=}}`, "label": "Argo CD"}
	assert.Equal(t, map[string]any{"argocd": link}, cluster.metadata()["links"])
	assert.Equal(t, map[string]any{"links": []any{link}}, p.state["links"])
}

// Every class of problem that the service has is in the table of statuses.
func TestTheDocsHaveEveryClass(t *testing.T) {
	classes := regexp.MustCompile(`\{"([a-z-]+)", "[A-Z][^"]*", http\.Status`).FindAllSubmatch(read(t, "internal", "server", "problem.go"), -1)
	require.Greater(t, len(classes), 12)
	page := string(read(t, "docs", "http.md"))
	for _, class := range classes {
		assert.Contains(t, page, "`"+string(class[1])+"`")
	}
}
