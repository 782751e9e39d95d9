package examples_test

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

type stepStatus string

const (
	succeeded stepStatus = "Succeeded"
	failed    stepStatus = "Failed"  // at once
	errored   stepStatus = "Errored" // until the error threshold
	running   stepStatus = "Running" // until the timeout
)

type stepEnd struct {
	status     stepStatus
	message    string
	output     any
	retryAfter time.Duration
}

// httpConfig is what of the http step's config the task may use.
type httpConfig struct {
	Method, URL, Body, Timeout, PollInterval              string
	Headers                                               []struct{ Name, Value string }
	SuccessExpression, FailureExpression, ErrorExpression string
	Outputs                                               []struct{ Name, FromExpression string }
}

// http runs the http step: failure goes before success, and where neither is met
// the request is made again after the poll interval.
func (p *promotion) http(t testing.TB, config map[string]any) stepEnd {
	t.Helper()
	encoded, err := json.Marshal(config)
	require.NoError(t, err)
	var c httpConfig
	require.NoError(t, yaml.UnmarshalStrict(encoded, &c), "a body that is no text, as for one without quote(), is refused by the step's schema")
	response, err := p.send(t, c)
	if err != nil {
		return stepEnd{status: errored, message: err.Error()}
	}
	env := map[string]any{"response": response}
	success, err := truth(c.SuccessExpression, env)
	if err != nil {
		return stepEnd{status: errored, message: err.Error()}
	}
	failure, err := truth(c.FailureExpression, env)
	switch {
	case err != nil:
		return stepEnd{status: errored, message: err.Error()}
	case failure:
		message, _ := expr.Eval(c.ErrorExpression, env)
		return stepEnd{status: failed, message: fmt.Sprintf("HTTP (%d) response met failure criteria: %q", response["status"], message)}
	case success:
		output := make(map[string]any)
		for _, one := range c.Outputs {
			if output[one.Name], err = expr.Eval(one.FromExpression, env); err != nil {
				return stepEnd{status: errored, message: err.Error()}
			}
		}
		return stepEnd{status: succeeded, output: output}
	}
	interval, err := time.ParseDuration(c.PollInterval)
	require.NoError(t, err)
	return stepEnd{status: running, retryAfter: max(interval, 10*time.Second)}
}

func truth(source string, env map[string]any) (bool, error) {
	value, err := expr.Eval(source, env)
	if err != nil {
		return false, err
	}
	holds, isBool := value.(bool)
	if !isBool {
		return false, fmt.Errorf("%s is no boolean", source)
	}
	return holds, nil
}

// send makes the request and returns the response as expressions see it: of a
// body of another type than JSON, YAML and text, only what is JSON.
func (p *promotion) send(t testing.TB, c httpConfig) (map[string]any, error) {
	t.Helper()
	timeout, err := time.ParseDuration(c.Timeout)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(c.URL, inCluster+"/"), c.URL)
	request, err := http.NewRequestWithContext(t.Context(), c.Method, p.service+strings.TrimPrefix(c.URL, inCluster), strings.NewReader(c.Body))
	require.NoError(t, err)
	for _, header := range c.Headers {
		require.NotEmpty(t, header.Value)
		request.Header.Add(header.Name, header.Value)
	}
	reply, err := (&http.Client{Timeout: timeout}).Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reply.Body.Close() }()
	content, err := io.ReadAll(reply.Body)
	if err != nil {
		return nil, err
	}
	var body any = map[string]any{}
	switch media, _, _ := mime.ParseMediaType(reply.Header.Get("Content-Type")); media {
	case "text/plain":
		body = string(content)
	case "application/json":
		if err := json.Unmarshal(content, &body); err != nil {
			return nil, err
		}
	default:
		var tree any
		if json.Unmarshal(content, &tree) == nil {
			body = tree
		}
	}
	return map[string]any{"status": int64(reply.StatusCode), "headers": reply.Header, "body": body}, nil
}
