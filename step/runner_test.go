package step_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/schema"
	"github.com/kargo-steps/publish-metadata/step"
)

// many is a request with maps everywhere.
func many() step.Request {
	apps := make([]map[string]string, 20)
	links := make(map[string]any)
	for i := range apps {
		apps[i] = map[string]string{"name": fmt.Sprintf("web-%02d", i), "namespace": "argocd"}
		links[fmt.Sprintf("link-%02d", i)] = map[string]any{"url": fmt.Sprintf("https://a.example.com/%d", i), "order": i % 3, "label": "A & B"}
	}
	return request(map[string]any{"sync": map[string]any{"apps": apps, "ids": []string{"b", "a"}, "no": 3, "of": 3.5, "none": nil}},
		map[string]any{"key": "applications", "fromExpression": "outputs.sync.apps"},
		map[string]any{"key": "links", "value": links, "onConflict": "takeOver"},
		map[string]any{"key": "example.com/keys", "schema": map[string]any{}, "fromExpression": `groupBy(keys(outputs.sync), #)`},
		map[string]any{"key": "tickets", "fromExpression": "outputs.sync.none", "onMissing": "remove"},
		map[string]any{"key": "checks", "fromStep": map[string]any{"as": "step-1"}, "onMissing": "keep"},
	)
}

func TestTheSameRequestGivesTheSameBytes(t *testing.T) {
	var results, manifests []string
	for range 50 {
		manifest, runner := newManifest(t)
		result, err := runner.Run(t.Context(), many())
		require.NoError(t, err)
		encoded, err := json.Marshal(result)
		require.NoError(t, err)
		written, err := manifest.Bytes()
		require.NoError(t, err)
		results, manifests = append(results, string(encoded)), append(manifests, string(written))
	}
	for i := range results {
		require.Equal(t, results[0], results[i])
		require.Equal(t, manifests[0], manifests[i])
	}
	require.NotContains(t, manifests[0], "time:", "a manifest that tells the time is never the same")
}

func TestTheSameBadRequestGivesTheSameMessage(t *testing.T) {
	items := []any{map[string]any{"key": "linkz", "valeu": 1}, map[string]any{"value": 2, "a": 1, "b": 2, "c": 3}}
	first := ""
	for range 50 {
		_, runner := newManifest(t)
		result, err := runner.Run(t.Context(), request(nil, items...))
		require.ErrorIs(t, err, step.Invalid)
		if first == "" {
			first = result.Message
		}
		require.Equal(t, first, result.Message)
	}
}

func TestARequestIsNeverChanged(t *testing.T) {
	given, untouched := many(), many()
	_, runner := newManifest(t)
	for range 2 {
		_, err := runner.Run(t.Context(), given)
		require.NoError(t, err)
		_, _, err = runner.Preview(t.Context(), given)
		require.NoError(t, err)
		require.True(t, reflect.DeepEqual(untouched, given))
	}
}

func TestAResultIsTheCallersOwn(t *testing.T) {
	_, runner := newManifest(t)
	_, metadata, err := runner.Preview(t.Context(), many())
	require.NoError(t, err)
	delete(metadata, "links")
	_, again, err := runner.Preview(t.Context(), many())
	require.NoError(t, err)
	require.Contains(t, again, "links")
}

func TestOneRunnerServesManyProducersAtOnce(t *testing.T) {
	manifest, runner := newManifest(t)
	var group sync.WaitGroup
	for n := range 30 {
		group.Go(func() {
			name := fmt.Sprintf("p-%02d", n)
			r := request(nil, map[string]any{"key": "links", "value": map[string]any{name: map[string]any{"url": "https://a.example.com/" + name}}})
			r.Config.(map[string]any)["producer"] = name
			_, _, err := runner.Preview(t.Context(), r)
			for range 3 {
				_, again := runner.Run(t.Context(), r)
				err = errors.Join(err, again)
			}
			assert.NoError(t, err)
		})
	}
	group.Wait()
	written, err := manifest.Bytes()
	require.NoError(t, err)
	for n := range 30 {
		require.Contains(t, string(written), fmt.Sprintf("https://a.example.com/p-%02d", n))
	}
}

func TestAPreviewIsWhatARunPublishes(t *testing.T) {
	_, runner := newManifest(t)
	result, metadata, err := runner.Preview(t.Context(), many())
	require.NoError(t, err)
	require.Equal(t, step.Succeeded, result.Status)
	require.Contains(t, result.Message, "Stage demo/test: would publish applications (argocd/web-00, ")
	require.NotContains(t, metadata, "provenance")
	require.NotContains(t, metadata, "checks")
	published, err := runner.Run(t.Context(), many())
	require.NoError(t, err)
	require.Equal(t, result.Output["published"], published.Output["published"])
	require.Equal(t, result.Output["links"], published.Output["links"])
	require.Len(t, result.Output["warnings"], 4, result.Output["warnings"])

	without, err := step.NewRunner(nil)
	require.NoError(t, err)
	same, _, err := without.Preview(t.Context(), many())
	require.NoError(t, err)
	require.Equal(t, result, same)
	failed, err := without.Run(t.Context(), many())
	require.ErrorIs(t, err, step.Invalid)
	require.Equal(t, "runner: it has no client to publish with", failed.Message)
	_, metadata, err = without.Preview(t.Context(), step.Request{})
	require.ErrorIs(t, err, step.Invalid)
	require.Nil(t, metadata)
}

func TestLinksAreOrderedByOrderThenName(t *testing.T) {
	_, runner := newManifest(t)
	link := func(order any) map[string]any { return map[string]any{"url": "https://a.example.com", "order": order} }
	result, err := runner.Run(t.Context(), request(nil, map[string]any{"key": "links", "value": map[string]any{
		"c": link(1), "b": link(2), "a": link(2), "z": map[string]any{"url": "https://a.example.com", "label": "Z", "tooltip": "T", "icon": "chart", "type": "logs"},
	}}))
	require.NoError(t, err)
	var labels []any
	for _, shown := range result.Output["links"].([]any) {
		labels = append(labels, shown.(map[string]any)["label"])
	}
	require.Equal(t, []any{"Z", "c", "a", "b"}, labels)
	require.Equal(t, map[string]any{"url": "https://a.example.com", "label": "Z", "tooltip": "T", "icon": "chart"}, result.Output["links"].([]any)[0])
}

func TestOptionsThatCannotBe(t *testing.T) {
	for name, option := range map[string]step.Option{
		"no registry":         step.WithRegistry(nil),
		"settle before now":   step.WithSettle(-time.Second),
		"settle for too long": step.WithSettle(6 * time.Second),
	} {
		_, err := step.NewRunner(nil, option)
		require.Error(t, err, name)
	}
}

func TestARegistryBringsKeysOfOnesOwn(t *testing.T) {
	registry, err := schema.NewRegistry()
	require.NoError(t, err)
	runner, err := step.NewRunner(nil, step.WithRegistry(registry), step.WithSettle(step.DefaultSettle))
	require.NoError(t, err)
	_, _, err = runner.Preview(t.Context(), request(nil))
	require.NoError(t, err)
}

func TestErrorsTellKindAndCause(t *testing.T) {
	_, runner := newManifest(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := runner.Run(ended, request(nil, map[string]any{"key": "links", "value": map[string]any{}}))
	require.ErrorIs(t, err, step.Timeout)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, step.Invalid)
	require.Equal(t, step.Errored, result.Status)
	require.Equal(t, map[string]any{}, result.Output["published"])

	result, err = runner.Run(t.Context(), request(nil, map[string]any{"key": "linkz", "value": map[string]any{}}))
	var failure *step.Error
	require.ErrorAs(t, fmt.Errorf("wrapped: %w", err), &failure)
	require.Equal(t, step.Invalid, failure.Kind)
	require.Equal(t, "/config/metadata/0/key", failure.Problems[0].Pointer)
	require.Equal(t, err.Error(), result.Message)
	require.Equal(t, step.Failed, result.Status)

	for _, kind := range []step.Kind{
		step.Invalid, step.TooLarge, step.Unauthenticated, step.Forbidden, step.NotFound, step.Conflict, step.Superseded,
	} {
		require.False(t, kind.Retryable(), kind)
		require.Equal(t, step.Failed, step.FailedResult(&step.Error{Kind: kind}).Status)
	}
	for _, kind := range []step.Kind{step.Unavailable, step.Timeout, step.NotSettled} {
		require.True(t, kind.Retryable(), kind)
		require.Equal(t, step.Errored, step.FailedResult(&step.Error{Kind: kind}).Status)
	}
	require.Equal(t, step.Errored, step.FailedResult(fmt.Errorf("by nobody here")).Status)
	require.Equal(t, step.Succeeded, step.FailedResult(nil).Status)
}

func TestClientsThatCannotBe(t *testing.T) {
	client, err := step.NewClusterClient(&rest.Config{Host: "https://a.example.com", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("no PEM"), CAFile: "/none"}})
	require.ErrorIs(t, err, step.Invalid)
	require.Nil(t, client)
	manifest, err := step.ReadManifest([]byte("kind: Pod"))
	require.ErrorIs(t, err, step.Invalid)
	require.Nil(t, manifest)
}
