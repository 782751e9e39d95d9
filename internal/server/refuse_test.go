package server_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBodiesThatCannotBeRead(t *testing.T) {
	good := linkTo("https://a.example.com/" + canary)
	escaped := strings.ReplaceAll(good, `"`, `\"`)
	tests := map[string]struct {
		body    string
		headers []string
		code    int
		message string
	}{
		"wrapped in quotes by quote() of a text": {`"` + escaped + `"`, nil, 400, "the whole body is wrapped in quotes"},
		"wrapped in quotes by a template":        {`"` + good + `"`, nil, 400, "the whole body is wrapped in quotes"},
		"wrapped in single quotes":               {`'` + good + `'`, nil, 400, "the whole body is wrapped in quotes"},
		"wrapped in quotes, over several lines":  {"\"\\n  " + escaped + "\"", nil, 400, "the whole body is wrapped in quotes"},
		"escaped with backslashes":               {escaped, nil, 400, "escaped with backslashes"},
		"escaped with backslashes, lines too":    {strings.Replace(escaped, `{`, `{\n  `, 1), nil, 400, "escaped with backslashes"},
		"escaped twice":                          {strings.ReplaceAll(good, `"`, `\\\"`), nil, 400, "escaped with backslashes"},
		"the text of a map":                      {"map[context:map[project:" + canary + "]]", nil, 400, "without quote()"},
		"empty":                                  {"", nil, 400, "empty"},
		"blank":                                  {" \n", nil, 400, "empty"},
		"with a byte order mark":                 {"\ufeff" + good, nil, 400, "byte order mark"},
		"with a second value":                    {good + good, nil, 400, "more text after the JSON value"},
		"with a key twice":                       {`{"context": {}, "context": {}}`, nil, 400, "/context: line 1, column 17: a key given twice"},
		"broken off":                             {good[:40], nil, 400, "line 1"},
		"YAML":                                   {"context: {project: demo}", nil, 400, "line 1"},
		"YAML in braces":                         {"{context: {project: demo}}", nil, 400, "line 1"},
		"not UTF-8":                              {"{\"a\": \"\xff\"}", nil, 400, "UTF-8"},
		"with a number that no float can have":   {`{"a": 1e400}`, nil, 400, "/a"},
		"of another type":                        {good, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "Content-Type: application/json"},
		"of a type that cannot be read":          {good, []string{"Content-Type", ";;"}, 415, "Content-Type: application/json"},
		"encoded":                                {good, []string{"Content-Encoding", "gzip"}, 415, "Content-Encoding"},
		"a list":                                 {"[]", nil, 422, "it is not an object"},
		"nested too deep":                        {strings.Repeat("[", 100), nil, 413, "64 levels"},
		"too large":                              {`{"outputs": "` + strings.Repeat("x", 2<<20) + `"}`, nil, 413, "limit of 2097152 bytes"},
		"much too large, and yet it is told so":  {strings.Repeat("x", 9<<20), nil, 413, "limit of 2097152 bytes"},
	}
	api := newFakeAPI(t)
	r := start(t, api.config())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := r.post(t, goodToken, test.body, test.headers...)
			require.Equal(t, test.code, a.code, a.text)
			assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"))
			assert.InDelta(t, test.code, a.Status, 0)
			assert.Equal(t, "Failed", a.Outcome)
			assert.False(t, a.Retryable)
			assert.NotNil(t, a.Problems)
			assert.NotEmpty(t, a.Title)
			assert.True(t, strings.HasPrefix(a.Type, "https://kargo-steps.github.io/publish-metadata/problems/"))
			assert.Contains(t, a.Message, test.message)
			assert.NotContains(t, a.text, canary)
			if strings.Contains(test.message, "quote") || strings.Contains(test.message, "backslash") {
				assert.Contains(t, a.Message, `body: ${{ quote({"context": ctx,`)
			}
		})
	}
	require.Zero(t, api.requests.Load())
	require.NotContains(t, r.logs.String(), canary)
}

func TestALongMessageIsBounded(t *testing.T) {
	entries := make([]string, 60)
	for n := range entries {
		entries[n] = fmt.Sprintf(`"%s-%d": {}`, strings.Repeat("é", 100), n)
	}
	r := start(t, newFakeAPI(t).config())
	a := r.post(t, goodToken, `{`+promotion+`, "metadata": [{"key": "links", "value": {`+strings.Join(entries, ",")+`}}]}`)
	require.Equal(t, 422, a.code)
	assert.LessOrEqual(t, len(a.Message), 8<<10+len("…"))
	assert.True(t, strings.HasSuffix(a.Message, "…"))
	assert.Len(t, a.Problems, 51)
}

func TestTokensThatAreNone(t *testing.T) {
	api := newFakeAPI(t)
	r := start(t, api.config())
	tests := map[string]string{
		"":                           "no Authorization header",
		" ":                          "no Authorization header",
		"Bearer":                     "empty",
		"Bearer ":                    "empty",
		"Bearer null":                "text of a missing value",
		"Bearer undefined":           "text of a missing value",
		"Bearer <nil>":               "text of a missing value",
		"Bearer <no value>":          "text of a missing value",
		"bearer None":                "text of a missing value",
		"Basic " + canary:            "not a bearer token",
		canary:                       "not a bearer token",
		`Bearer "` + canary + `"`:    "characters that no token has",
		"Bearer " + canary + " more": "characters that no token has",
		"Bearer ${{ secret('" + canary + "').token }}": "characters that no token has",
	}
	for value, message := range tests {
		t.Run(value, func(t *testing.T) {
			a := r.post(t, "", linkTo("https://a.example.com"), "Authorization", value)
			require.Equal(t, 401, a.code, a.text)
			assert.Contains(t, a.Message, message)
			assert.Contains(t, a.Message, "secret('<name>').token")
			assert.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
			assert.Equal(t, "Failed", a.Outcome)
			assert.NotContains(t, a.text, canary)
		})
	}
	t.Run("more than one header", func(t *testing.T) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/publish", strings.NewReader("{}"))
		require.NoError(t, err)
		request.Header["Authorization"] = []string{"Bearer a", "Bearer b"}
		a, err := r.send(request)
		require.NoError(t, err)
		require.Equal(t, 401, a.code)
	})
	require.Zero(t, api.requests.Load(), "nobody's request reaches the API server")
	require.NotContains(t, r.logs.String(), canary)
}

func TestWhatTheAPIServerRefusesIsRelayed(t *testing.T) {
	api := newFakeAPI(t)
	r := start(t, api.config())
	a := r.post(t, forbiddenToken, linkTo("https://a.example.com"))
	require.Equal(t, 403, a.code)
	assert.Contains(t, a.Message, "Stage demo/test: the caller may not get stages in namespace demo")
	a = r.post(t, "expired", linkTo("https://a.example.com"))
	require.Equal(t, 401, a.code)
	assert.Contains(t, a.Message, "does not accept the credentials to get stages in namespace demo")
	assert.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
	require.Empty(t, api.links())
	require.Equal(t, map[string]bool{"Bearer " + forbiddenToken: true, "Bearer expired": true}, api.tokens, "no credential of the pod fills in")
}

func TestOtherPathsAndMethods(t *testing.T) {
	r := start(t, newFakeAPI(t).config())
	a := r.get(t, "/v1/publish")
	require.Equal(t, 405, a.code)
	assert.Equal(t, "POST", a.header.Get("Allow"))
	a = r.get(t, "/v2/publish")
	require.Equal(t, 404, a.code)
	assert.Contains(t, a.Message, "publish to /v1/publish")
	require.Equal(t, 200, r.get(t, "/healthz").code)
}
