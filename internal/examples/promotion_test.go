package examples_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const root = "../.."

type variable struct{ Name, Value string }

type promotionStep struct {
	Uses, As string
	Task     *struct{ Name, Kind string }
	Vars     []variable
	Retry    struct {
		ErrorThreshold int
		Timeout        string
	}
	Config map[string]any
}

// stepsOf returns the steps under a path of a manifest's first object of a kind.
// A member that a step does not have fails the test.
func stepsOf(t testing.TB, file, kind string, path ...string) (steps []promotionStep, vars []variable) {
	t.Helper()
	for _, object := range objects(t, file) {
		if object.GetKind() != kind {
			continue
		}
		at := object.Object
		for _, name := range path {
			at, _ = at[name].(map[string]any)
		}
		encoded, err := json.Marshal(map[string]any{"steps": at["steps"], "vars": at["vars"]})
		require.NoError(t, err)
		var spec struct {
			Steps []promotionStep
			Vars  []variable
		}
		require.NoError(t, yaml.UnmarshalStrict(encoded, &spec))
		return spec.Steps, spec.Vars
	}
	require.Fail(t, "no such object", "%s has no %s", file, kind)
	return nil, nil
}

// inflate returns steps with each reference to the task replaced by the task's steps.
func inflate(t testing.TB, steps ...promotionStep) (inflated []promotionStep) {
	t.Helper()
	for _, step := range steps {
		if step.Task == nil {
			inflated = append(inflated, step)
			continue
		}
		require.Equal(t, "publish-metadata", step.Task.Name)
		require.Equal(t, "ClusterPromotionTask", step.Task.Kind)
		own, defaults := stepsOf(t, "kargo-http/clusterpromotiontask.yaml", "ClusterPromotionTask", "spec")
		for _, one := range own {
			one.As = step.As + "::" + one.As
			one.Vars = append(append([]variable{}, defaults...), step.Vars...)
			inflated = append(inflated, one)
		}
	}
	return inflated
}

// promotion runs steps as Kargo does.
type promotion struct {
	project, stage, name string
	secrets              map[string]map[string]string
	stageMetadata        func(stage string) map[string]any
	// service is where the URL of the task's server leads.
	service string
	state   map[string]any
	// polls and errors count what was done again for the last step.
	polls, errors int
}

func (p *promotion) env(step promotionStep, vars map[string]any) map[string]any {
	env := map[string]any{
		"ctx": map[string]any{
			"uiBaseUrl": "https://kargo.example.com", "project": p.project, "stage": p.stage, "promotion": p.name,
			"targetFreight": map[string]any{"name": "3f2a9c1", "alias": "calm-cat", "origin": map[string]any{"name": "web"}},
			"meta":          map[string]any{"promotion": map[string]any{"actor": "admin", "rollback": false}, "step": map[string]any{"alias": step.As}},
		},
		"outputs": p.state, "vars": vars, "quote": quote,
		"secret":        func(name string) map[string]string { return p.secrets[name] },
		"stageMetadata": func(stage string) map[string]any { return p.stageMetadata(stage) },
	}
	if task, _, inTask := strings.Cut(step.As, "::"); inTask {
		outputs := make(map[string]any)
		for alias, output := range p.state {
			if name, found := strings.CutPrefix(alias, task+"::"); found {
				outputs[name] = output
			}
		}
		env["task"] = map[string]any{"outputs": outputs}
	}
	return env
}

// config returns a step's config, evaluated.
func (p *promotion) config(step promotionStep) (map[string]any, error) {
	vars := make(map[string]any)
	for _, v := range step.Vars {
		value, err := evaluate(v.Value, p.env(step, maps.Clone(vars)))
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", v.Name, err)
		}
		vars[v.Name] = value
	}
	config, err := evaluateAll(step.Config, p.env(step, vars))
	if err != nil {
		return nil, err
	}
	return config.(map[string]any), nil
}

// run runs steps until one does not succeed, and returns how the last one ended.
func (p *promotion) run(t testing.TB, steps ...promotionStep) (end stepEnd) {
	t.Helper()
	if p.state == nil {
		p.state = make(map[string]any)
	}
	for _, step := range steps {
		if end = p.runStep(t, step); end.status != succeeded {
			return end
		}
	}
	return end
}

func (p *promotion) runStep(t testing.TB, step promotionStep) stepEnd {
	t.Helper()
	p.polls, p.errors = 0, 0
	for waited := time.Duration(0); ; {
		end := p.try(t, step)
		p.state[step.As] = end.output
		switch end.status {
		case succeeded, failed:
			return end
		case errored:
			if p.errors++; p.errors >= max(1, step.Retry.ErrorThreshold) {
				return end
			}
		case running:
			p.polls++
			waited += end.retryAfter
			if timeout, err := time.ParseDuration(step.Retry.Timeout); err == nil && waited >= timeout {
				return stepEnd{status: errored, message: "timed out after " + step.Retry.Timeout}
			}
		}
	}
}

func (p *promotion) try(t testing.TB, step promotionStep) stepEnd {
	t.Helper()
	config, err := p.config(step)
	if err != nil {
		return stepEnd{status: errored, message: err.Error()}
	}
	switch step.Uses {
	case "http":
		return p.http(t, config)
	case "compose-output":
		if task, _, inTask := strings.Cut(step.As, "::"); inTask {
			p.state[task] = config
		}
		return stepEnd{status: succeeded, output: config}
	}
	require.Fail(t, "an unknown step", step.Uses)
	return stepEnd{}
}

func read(t testing.TB, file ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(append([]string{root}, file...)...))
	require.NoError(t, err)
	return content
}
