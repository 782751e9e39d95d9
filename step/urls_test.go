package step_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/step"
)

// badURLs are forms that must not be published, each with a secret in it.
var badURLs = map[string]string{
	"another scheme":           "javascript:alert('hunter2')",
	"a scheme in capitals":     "JAVASCRIPT:hunter2",
	"data":                     "data:text/html,hunter2",
	"a file":                   "file:///etc/hunter2",
	"ftp":                      "ftp://a.example.com/hunter2",
	"no scheme":                "a.example.com/hunter2",
	"a path":                   "/hunter2",
	"of no scheme but a host":  "//a.example.com/hunter2",
	"no host":                  "https:///hunter2",
	"a port alone":             "https://:443/hunter2",
	"opaque":                   "https:hunter2",
	"a user":                   "https://hunter2@a.example.com/",
	"a user and a password":    "https://user:hunter2@a.example.com/",
	"an empty user":            "https://@a.example.com/hunter2",
	"a backslash":              `https://a.example.com\hunter2`,
	"a backslash for a user":   `https://evil.example.com\@a.example.com/hunter2`,
	"a space":                  "https://a.example.com/hunter2 x",
	"a space before":           " https://a.example.com/hunter2",
	"a line break":             "https://a.example.com/hunter2\nx",
	"a tab":                    "https://a.example.com/\thunter2",
	"a NUL":                    "https://a.example.com/\x00hunter2",
	"a no-break space":         "https://a.example.com/\u00a0hunter2",
	"a line separator":         "https://a.example.com/\u2028hunter2",
	"DEL":                      "https://a.example.com/\x7fhunter2",
	"a C1 control character":   "https://a.example.com/\u0085hunter2",
	"port 0":                   "https://a.example.com:0/hunter2",
	"port 65536":               "https://a.example.com:65536/hunter2",
	"a port that is a word":    "https://a.example.com:hunter2/",
	"a bad escape":             "https://a.example.com/%zzhunter2",
	"a bad escape in the host": "https://a%zz.example.com/hunter2",
	"an open bracket":          "https://[::1/hunter2",
	"an empty text":            "",
	"a template not evaluated": "https://a.example.com/${{ hunter2 }}",
}

func TestABadURLIsRefusedHoweverItComes(t *testing.T) {
	for name, url := range badURLs {
		entry := map[string]any{"a": map[string]any{"url": url}}
		for source, test := range map[string]struct {
			outputs any
			item    map[string]any
			pointer string
		}{
			"as a literal":     {nil, map[string]any{"key": "links", "value": entry}, "/config/metadata/0/value/a/url: "},
			"by an expression": {map[string]any{"s": entry}, map[string]any{"key": "links", "fromExpression": "outputs.s"}, "/config/metadata/0/fromExpression/a/url: "},
			"from a step": {
				map[string]any{"s": map[string]any{"metadata": map[string]any{"links": entry}}},
				map[string]any{"fromStep": map[string]any{"as": "s"}}, "/config/metadata/0/fromStep/links/a/url: ",
			},
		} {
			t.Run(name+" "+source, func(t *testing.T) {
				_, err := runDocument(t, encode(t, request(test.outputs, test.item)))
				require.ErrorIs(t, err, step.Invalid)
				require.ErrorContains(t, err, test.pointer)
				require.NotContains(t, err.Error(), "hunter2")
			})
		}
	}
}

func TestAURLStaysAsItWasWritten(t *testing.T) {
	for _, url := range []string{
		"https://h.example.com/q?a=1&b=<2>", "https://a.example.com:65535/%41/é#frag", "HTTPS://A.example.com", "http://[::1]:8080/x",
		"https://a.example.com/a'b\"c}}", "https://a.example.com/?q=%7B%22a%22%3A1%7D",
	} {
		manifest, runner := newManifest(t)
		result, err := runner.Run(t.Context(), request(map[string]any{"s": map[string]any{"u": url}},
			map[string]any{"key": "links", "fromExpression": `{"a": {"url": outputs.s.u}}`}))
		require.NoError(t, err, url)
		require.Equal(t, []any{map[string]any{"url": url, "label": "a"}}, result.Output["links"])
		written, err := manifest.Bytes()
		require.NoError(t, err)
		reread, err := step.ReadManifest(written)
		require.NoError(t, err)
		again, err := step.NewRunner(reread.Client(), step.WithSettle(0))
		require.NoError(t, err)
		result, err = again.Run(t.Context(), request(nil, map[string]any{"key": "links", "value": map[string]any{"a": map[string]any{"url": url}}}))
		require.NoError(t, err)
		require.Equal(t, false, result.Output["changed"], "%s was not stored as it is", url)
	}
}
