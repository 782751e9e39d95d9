package examples_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What comes from somebody between Kargo and the service, or from a newer service,
// is judged by what it says, else by its status.
func TestRepliesOfOthers(t *testing.T) {
	const elsewhere = "not a reply of publish-metadata"
	cases := map[string]struct {
		code        int
		media, body string
		want        stepStatus
		says        string
	}{
		"a sign-in page":                      {200, "text/html", "<html></html>", failed, elsewhere},
		"a text":                              {200, "text/plain", "hello", failed, elsewhere},
		"a JSON that is a list":               {200, "application/json", "[]", failed, elsewhere},
		"a JSON that is null":                 {200, "application/json", "null", failed, elsewhere},
		"an empty reply":                      {204, "", "", failed, elsewhere},
		"a proxy that knows no such host":     {404, "text/html", "<html></html>", failed, elsewhere},
		"a proxy that takes no such size":     {413, "text/plain; charset=utf-8", "too large", failed, elsewhere},
		"a mesh that does not let it in":      {403, "text/plain", "RBAC: access denied", failed, elsewhere},
		"a proxy that throttles":              {429, "text/html", "", running, ""},
		"a proxy that waited for the body":    {408, "text/html", "", running, ""},
		"a proxy that finds no service":       {502, "text/html", "<html></html>", running, ""},
		"a mesh without endpoints":            {503, "text/plain", "no healthy upstream", running, ""},
		"a proxy that waited for the service": {504, "application/json", `{"error": "timeout"}`, running, ""},
		"a problem that a retry may help":     {408, "application/problem+json", `{"message": "slow", "retryable": true}`, running, ""},
		"a problem that a retry cannot help":  {507, "application/problem+json", `{"message": "full", "retryable": false}`, failed, "full"},
		"a success of a kind of its own":      {200, "application/json", `{"status": "Succeeded", "output": {}, "new": 1}`, succeeded, ""},
		"a 200 that is no success":            {200, "application/json", `{"status": "Failed", "message": "no"}`, failed, "no"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.media)
				w.WriteHeader(c.code)
				_, _ = w.Write([]byte(c.body)) // the client may be gone
			}))
			defer other.Close()
			end := newPromotion(other.URL).try(t, inflate(t, publishStep())[0])
			assert.Equal(t, c.want, end.status, end.message)
			assert.Contains(t, end.message, c.says)
		})
	}
}
