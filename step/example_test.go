package step_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/step"
)

const stage = `apiVersion: kargo.akuity.io/v1alpha1
kind: Stage
metadata:
  name: test
  namespace: demo
spec: {} # what Kargo promotes
`

// Publishing to a Stage manifest: no cluster is needed.
func ExampleRunner_Run() {
	manifest, err := step.ReadManifest([]byte(stage))
	if err != nil {
		panic(err)
	}
	runner, err := step.NewRunner(manifest.Client(), step.WithSettle(0))
	if err != nil {
		panic(err)
	}
	request, err := step.ParseRequest([]byte(`
context: {project: demo, stage: test, meta: {step: {alias: publish}}}
outputs: {sync: {url: "https://cd.example.com/applications/argocd/web"}}
config:
  metadata:
  - key: links
    fromExpression: |
      {"argocd": {"url": outputs.sync.url}}
`))
	if err != nil {
		panic(err)
	}
	result, err := runner.Run(context.Background(), request)
	fmt.Println(result.Status, err)
	fmt.Println(result.Message)
	text, _ := manifest.Bytes()
	_, status, _ := strings.Cut(string(text), "\nstatus:\n")
	fmt.Print(status)
	// Output:
	// Succeeded <nil>
	// Stage demo/test: published links (argocd)
	//   metadata:
	//     links:
	//       argocd:
	//         url: https://cd.example.com/applications/argocd/web
	//     provenance:
	//       publish:
	//         entries:
	//           links:
	//           - argocd
	//         stage: test
	//         step: publish
}

// What would be published can be seen without any client.
func ExampleRunner_Preview() {
	runner, err := step.NewRunner(nil)
	if err != nil {
		panic(err)
	}
	request := step.Request{
		Context: map[string]any{"project": "demo", "stage": "test"},
		Config: map[string]any{
			"producer": "deploy",
			"metadata": []any{map[string]any{"key": "tickets", "value": []any{map[string]any{"key": "PAY-1", "system": "jira"}}}},
		},
	}
	result, metadata, err := runner.Preview(context.Background(), request)
	fmt.Println(result.Message, err)
	fmt.Println(metadata)
	// Output:
	// Stage demo/test: would publish tickets (jira/PAY-1) <nil>
	// map[tickets:map[jira/PAY-1:map[key:PAY-1 system:jira]]]
}

// An Error tells every place that is wrong, and its kind whether to try again.
func ExampleError() {
	runner, err := step.NewRunner(nil)
	if err != nil {
		panic(err)
	}
	_, _, err = runner.Preview(context.Background(), step.Request{
		Context: map[string]any{"project": "demo", "stage": "test", "meta": map[string]any{"step": map[string]any{"alias": "publish"}}},
		Config:  map[string]any{"metadata": []any{map[string]any{"key": "linkz", "valeu": "x"}}},
	})
	var failure *step.Error
	if errors.As(err, &failure) {
		for _, problem := range failure.Problems {
			fmt.Println(problem)
		}
	}
	fmt.Println(errors.Is(err, step.Invalid), failure.Kind.Retryable())
	// Output:
	// /config/metadata/0: exactly one of value, fromExpression, fromStep is needed
	// /config/metadata/0/valeu: unknown field valeu; did you mean value?
	// true false
}

// A Runner for a cluster is made once, and is safe for concurrent use.
func ExampleNewClusterClient() {
	config, err := rest.InClusterConfig()
	if err != nil {
		fmt.Println("not in a cluster")
		return
	}
	client, err := step.NewClusterClient(config)
	if err != nil {
		panic(err)
	}
	runner, err := step.NewRunner(client)
	if err != nil {
		panic(err)
	}
	_ = runner
}
