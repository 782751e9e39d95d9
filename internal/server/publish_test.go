package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/server"
)

// canary stands where values stand, and must be nowhere but in the Stage.
const canary = "canary-5f1d"

const promotion = `"context": {"project": "demo", "stage": "test", "promotion": "test.01", "meta": {"step": {"alias": "publish"}}}`

// linkTo is a request that publishes one link.
func linkTo(url string) string {
	return `{` + promotion + `, "config": {"metadata": [{"key": "links", "value": {"a": {"url": "` + url + `"}}}]}}`
}

func TestARequestIsPublished(t *testing.T) {
	outputs := `, "outputs": {"deploy": {"url": "https://a.example.com/?a=1&b=<2>"}}`
	item := `{"key": "links", "fromExpression": "{a: {url: outputs.deploy.url}}"}`
	text := `"- key: links\n  fromExpression: |\n    {a: {url: outputs.deploy.url}}\n"`
	tests := map[string]string{
		"with a config":                           `{` + promotion + outputs + `, "config": {"metadata": [` + item + `]}}`,
		"with metadata beside the context":        `{` + promotion + outputs + `, "metadata": [` + item + `]}`,
		"with the YAML text of a task's variable": `{` + promotion + outputs + `, "metadata": ` + text + `}`,
		"with every member of the config flat":    `{` + promotion + outputs + `, "metadata": ` + text + `, "producer": "publish", "settle": "0s", "target": {"kind": "Stage"}}`,
		"with null for what is left out":          `{` + promotion + outputs + `, "metadata": ` + text + `, "producer": null, "settle": null, "target": null}`,
		"with the JSON text of a task's variable": `{` + promotion + outputs + `, "metadata": "[` + strings.ReplaceAll(item, `"`, `\"`) + `]"}`,
		"with white space around":                 " \r\n" + `{` + promotion + outputs + `, "metadata": ` + text + `}` + "\n",
		"with members of the context it ignores":  `{` + strings.Replace(promotion, `{`, `{"new": {"in": 1},`, 1) + outputs + `, "metadata": ` + text + `}`,
		"with a charset in the type of its body":  `{` + promotion + outputs + `, "metadata": ` + text + `}`,
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			api := newFakeAPI(t)
			r := start(t, api.config())
			a := r.post(t, goodToken, body, "Content-Type", "application/json; charset=utf-8")
			require.Equal(t, 200, a.code, a.text)
			assert.Equal(t, "application/json", a.header.Get("Content-Type"))
			assert.Equal(t, "Succeeded", a.Status)
			assert.Equal(t, map[string]any{"links": []any{"a"}}, a.Output["published"])
			assert.Contains(t, a.text, `"https://a.example.com/?a=1&b=<2>"`, "nothing is escaped for HTML")
			assert.Equal(t, map[string]any{"a": map[string]any{"url": "https://a.example.com/?a=1&b=<2>"}}, api.links())
		})
	}
}

func TestNoContentTypeIsJSON(t *testing.T) {
	r := start(t, newFakeAPI(t).config())
	require.Equal(t, 200, r.post(t, goodToken, linkTo("https://a.example.com"), "Content-Type", "").code)
}

func TestARetryChangesNothing(t *testing.T) {
	api := newFakeAPI(t)
	r := start(t, api.config())
	require.Equal(t, true, r.post(t, goodToken, linkTo("https://a.example.com")).Output["changed"])
	require.Equal(t, false, r.post(t, goodToken, linkTo("https://a.example.com")).Output["changed"])
}

func TestWhatIsWrongWithAConfig(t *testing.T) {
	api := newFakeAPI(t)
	r := start(t, api.config())
	wrong := `[{"key": "links", "value": {"a": {"url": "javascript:` + canary + `"}, "b": {"label": "` + canary + `"}}}]`
	tests := map[string]struct {
		body     string
		pointers []string
		message  []string
	}{
		"is found in the config":           {`"config": {"metadata": ` + wrong + `}`, []string{"/config/metadata/0/value/a/url", "/config/metadata/0/value/b"}, nil},
		"is found where it stands":         {`"metadata": ` + wrong, []string{"/metadata/0/value/a/url", "/metadata/0/value/b"}, []string{"/metadata/0/value/a/url: "}},
		"is said at once":                  {`"metadata": [{"valeu": 1}], "settle": "6s"`, []string{"/metadata/0", "/settle"}, []string{"valeu"}},
		"is found in the text":             {`"metadata": "- {key: linkz, value: {}}"`, []string{"/metadata/0/key"}, nil},
		"is that its text is no list":      {`"metadata": "key: links"`, []string{"/metadata"}, []string{"begin each item with a dash"}},
		"is that its text is no YAML":      {`"metadata": "- {` + canary + `"`, []string{"/metadata"}, []string{"its text is not YAML", "line 1"}},
		"is that its text is empty":        {`"metadata": ""`, []string{"/metadata"}, []string{"empty"}},
		"is that its text has a key twice": {`"metadata": "- {key: a, key: b}"`, []string{"/metadata/0/key"}, []string{"given twice"}},
		"is that it is given twice":        {`"config": {"metadata": []}, "metadata": [], "producer": null`, []string{"/metadata", "/producer"}, []string{"stands beside config"}},
		"is that there is none":            {`"outputs": {}`, nil, []string{"config"}},
		"is an unknown member":             {`"metadata": [], "producr": "x"`, nil, []string{"producr"}},
		"is that a name is no name":        {`"metadata": [], "producer": "` + strings.Repeat("x", 400) + `"`, nil, []string{"producer"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := r.post(t, goodToken, `{`+promotion+`, `+test.body+`}`)
			require.Equal(t, 422, a.code, a.text)
			assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
			assert.Equal(t, "Failed", a.Outcome)
			assert.False(t, a.Retryable)
			assert.NotContains(t, a.text, canary)
			assert.NotContains(t, a.text, `"output"`)
			for _, pointer := range test.pointers {
				assert.Contains(t, a.text, `"pointer":"`+pointer+`"`)
			}
			for _, part := range test.message {
				assert.Contains(t, a.Message, part)
			}
		})
	}
	require.Zero(t, api.requests.Load(), "an invalid request reaches the API server")
}

func TestOptionsThatCannotBeUsed(t *testing.T) {
	tests := map[string]func(*server.Options){
		"there is no API server": func(o *server.Options) { o.Cluster = nil },
		"go together":            func(o *server.Options) { o.CertFile = "tls.crt" },
		"serves no TLS":          func(o *server.Options) { o.CertFile, o.KeyFile, o.InsecureHTTP = "a", "b", true },
		"--max-concurrent":       func(o *server.Options) { o.MaxConcurrent = 0 },
		"--request-timeout":      func(o *server.Options) { o.RequestTimeout = 0 },
		"--shutdown-delay":       func(o *server.Options) { o.ShutdownDelay = -1 },
		"cannot be read":         func(o *server.Options) { o.CertFile, o.KeyFile = "missing.crt", "missing.key" },
	}
	for message, change := range tests {
		t.Run(message, func(t *testing.T) {
			options := server.DefaultOptions()
			options.Cluster = newFakeAPI(t).config()
			change(&options)
			_, err := server.New(options)
			require.ErrorContains(t, err, message)
		})
	}
}

func TestTokensAreNotTakenInTheClear(t *testing.T) {
	options := server.DefaultOptions()
	options.Cluster, options.Address = newFakeAPI(t).config(), ":0"
	s, err := server.New(options)
	require.NoError(t, err)
	require.ErrorContains(t, s.Listen(t.Context()), "--insecure-http")

	options.InsecureHTTP = true
	s, err = server.New(options)
	require.NoError(t, err)
	require.NoError(t, s.Listen(t.Context()))
	options.Address = s.Addr().String()
	taken, err := server.New(options)
	require.NoError(t, err)
	require.ErrorContains(t, taken.Listen(t.Context()), "is it taken?")
}
