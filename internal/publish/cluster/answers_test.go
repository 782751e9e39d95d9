package cluster_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/cluster"
)

const (
	token = "t0ken-s3cr3t"
	// told is in every answer, and must be in no message.
	told = "value-s3cr3t"
)

var answered = decode.Target{Kind: "Stage", Namespace: "demo", Name: "test"}

// serving returns the client of a server that answers so, and how often it was asked.
func serving(t testing.TB, answer http.HandlerFunc) (*cluster.Client, *atomic.Int32) {
	t.Helper()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Add("Warning", `299 - "`+told+`"`)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	client, err := cluster.New(&rest.Config{Host: server.URL, BearerToken: token})
	require.NoError(t, err)
	return client, &asked
}

// status answers with a Status.
func status(code int, details *metav1.StatusDetails, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
			Code: int32(code), Message: told, Details: details, Reason: metav1.StatusReason(reasons[code]),
		})
	}
}

var reasons = map[int]string{
	400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 410: "Gone", 413: "RequestEntityTooLarge",
	422: "Invalid", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout",
}

// plain answers with a text, as a proxy does.
func plain(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	}
}

func causes(kind metav1.CauseType, field, message string) *metav1.StatusDetails {
	return &metav1.StatusDetails{Name: "test", Causes: []metav1.StatusCause{{Type: kind, Field: field, Message: message}}}
}

func named() *metav1.StatusDetails { return &metav1.StatusDetails{Name: "test", Kind: "stages"} }

var body = &unstructured.Unstructured{Object: map[string]any{
	"apiVersion": publish.APIVersion, "kind": "Stage", "metadata": map[string]any{"name": "test", "namespace": "demo"},
	"status": map[string]any{"metadata": map[string]any{"links": map[string]any{"a": map[string]any{"url": told}}}},
}}

// calls are the client's methods, by what RBAC calls them.
var calls = map[string]func(ctx context.Context, client *cluster.Client) error{
	"get stages in namespace demo": func(ctx context.Context, client *cluster.Client) error {
		_, err := client.Get(ctx, answered)
		return err
	},
	"patch stages/status in namespace demo": func(ctx context.Context, client *cluster.Client) error {
		_, err := client.Apply(ctx, answered, body, publish.ApplyOptions{Manager: "publish-metadata/a"})
		return err
	},
	"patch  stages/status in namespace demo": func(ctx context.Context, client *cluster.Client) error {
		_, err := client.Patch(ctx, answered, []byte(`[{"op":"remove","path":"/status/metadata"}]`), "publish-metadata/a")
		return err
	},
}

func TestAnswersOfTheAPIServer(t *testing.T) {
	get, apply, patch := "get stages in namespace demo", "patch stages/status in namespace demo", "patch  stages/status in namespace demo"
	every := []string{get, apply, patch}
	tests := map[string]struct {
		answer  http.HandlerFunc
		calls   []string
		kind    fault.Kind // "" is ErrChanged
		message string
		// what says that the message names the request.
		what bool
	}{
		"400":                        {status(400, nil), every, fault.Invalid, "the API server refuses to ", true},
		"401":                        {status(401, nil), every, fault.Unauthenticated, "renew the token", true},
		"403":                        {status(403, named()), every, fault.Forbidden, "the caller may not ", true},
		"404 of the target":          {status(404, named()), every, fault.NotFound, "it does not exist, and is never created", false},
		"404 of the resource":        {plain(404, "404 page not found "+told), every, fault.NotFound, "install Kargo's CRDs", false},
		"404 without details":        {status(404, nil), every, fault.NotFound, "install Kargo's CRDs", false},
		"409 without causes":         {status(409, named()), []string{apply, patch}, "", "Stage demo/test: ", false},
		"409 with owners":            {status(409, causes(metav1.CauseTypeFieldManagerConflict, ".status.metadata.links.a.url", `conflict with "flux"`)), []string{apply}, fault.Conflict, `.status.metadata.links.a.url (conflict with "flux")`, false},
		"409 with other causes":      {status(409, causes("Other", "a", told)), []string{apply}, "", "", false},
		"410":                        {status(410, nil), every, fault.Unavailable, "the API server answered 410 to ", true},
		"413":                        {status(413, nil), []string{apply}, fault.TooLarge, "(163 bytes were applied", false},
		"413 of a proxy":             {plain(413, told), []string{apply}, fault.TooLarge, "publish less", false},
		"422 of an apply":            {status(422, causes("FieldValueInvalid", "status.metadata", told)), []string{apply}, fault.Invalid, ", because of status.metadata", true},
		"422 without a field":        {status(422, causes("FieldValueInvalid", "", told)), []string{apply}, fault.Invalid, "namespace demo", true},
		"422 of a test that fails":   {status(422, &metav1.StatusDetails{}), []string{patch}, "", "Stage demo/test: ", false},
		"422 of a patch to a field":  {status(422, causes("FieldValueInvalid", "status.metadata", told)), []string{patch}, fault.Invalid, ", because of status.metadata", true},
		"500":                        {status(500, nil), every, fault.Unavailable, "the API server answered 500 to ", true},
		"500 as text":                {plain(500, told), every, fault.Unavailable, "the API server answered 500 to ", true},
		"500 of etcd":                {etcdTooLarge, []string{apply}, fault.TooLarge, "(163 bytes were applied to what it has): publish less", false},
		"503":                        {status(503, nil), every, fault.Unavailable, "the API server answered 503 to ", true},
		"504":                        {status(504, nil), every, fault.Unavailable, "the API server answered 504 to ", true},
		"a body that is cut off":     {truncated, every, fault.Unavailable, "did not answer in full", false},
		"a body that is no JSON":     {plain(200, told), every, fault.Unavailable, "did not answer in full", false},
		"a page":                     {page, every, fault.Unavailable, "did not answer in full", false},
		"a connection that is reset": {reset, []string{apply, patch}, fault.Unavailable, "could not be reached", false},
	}
	for name, test := range tests {
		for _, call := range test.calls {
			t.Run(name+"/"+call, func(t *testing.T) {
				client, asked := serving(t, test.answer)
				err := calls[call](t.Context(), client)
				require.Error(t, err)
				if test.kind == "" {
					require.ErrorIs(t, err, publish.ErrChanged)
				} else {
					require.ErrorIs(t, err, test.kind)
					require.True(t, strings.HasPrefix(err.Error(), "Stage demo/test: "), err)
				}
				require.ErrorContains(t, err, test.message)
				if test.what {
					require.ErrorContains(t, err, strings.Join(strings.Fields(call), " "))
				}
				require.NotContains(t, err.Error(), "s3cr3t")
				require.LessOrEqual(t, len(err.Error()), 300)
				if call != get {
					require.EqualValues(t, 1, asked.Load(), "a write was sent again")
				}
			})
		}
	}
}

func etcdTooLarge(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusInternalServerError)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status: metav1.StatusFailure, Code: 500, Message: "etcdserver: request is too large " + told})
}

func truncated(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"kind":"Stage","apiVersion":"kargo.akuity.io/v1alpha1","metadata":{"name":"`+told)
}

func page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, "<html>"+told+"</html>")
}

func reset(w http.ResponseWriter, _ *http.Request) {
	connection, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = connection.Close()
	}
}
