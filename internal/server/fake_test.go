package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/cases"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
)

// The tokens that the fake API server knows; others get a 401.
const (
	goodToken      = "good-token"
	forbiddenToken = "forbidden-token"
)

// fakeAPI is an API server with the Stage demo/test, whose promotion is test.01.
type fakeAPI struct {
	*httptest.Server
	store *offline.Store
	// before, if set, may answer in place of the API server: it then returns true.
	before func(w http.ResponseWriter, r *http.Request) bool
	// applied, if set, is called between an apply and its answer.
	applied func()

	requests, applies atomic.Int64
	mu                sync.Mutex
	tokens            map[string]bool
}

func newFakeAPI(t testing.TB) *fakeAPI {
	t.Helper()
	api := &fakeAPI{tokens: map[string]bool{}}
	manifest := &cases.Manifest{Text: []byte("apiVersion: kargo.akuity.io/v1alpha1\nkind: Stage\n" +
		"metadata: {name: test, namespace: demo}\nstatus: {currentPromotion: {name: test.01}}\n")}
	var err error
	api.store, err = offline.Read(manifest.Text)
	require.NoError(t, err)
	api.Server = httptest.NewServer(http.HandlerFunc(api.serve))
	t.Cleanup(api.Close)
	return api
}

func (a *fakeAPI) config() *rest.Config {
	return &rest.Config{Host: a.URL, BearerToken: "token-of-the-pod", Username: "user-of-the-pod"}
}

// links returns status.metadata.links of the Stage.
func (a *fakeAPI) links() map[string]any {
	links, _, _ := unstructured.NestedMap(a.store.Object().Object, "status", "metadata", "links")
	return links
}

func (a *fakeAPI) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // whole, since only then the end of the connection ends r's context
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	a.requests.Add(1)
	a.mu.Lock()
	a.tokens[r.Header.Get("Authorization")] = true
	a.mu.Unlock()
	if a.before != nil && a.before(w, r) {
		return
	}
	switch token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); {
	case token == forbiddenToken:
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden)
		return
	case token != goodToken:
		refuse(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized)
		return
	}
	const path = "/apis/kargo.akuity.io/v1alpha1/namespaces/demo/stages/test"
	var object *unstructured.Unstructured
	switch {
	case r.Method == http.MethodGet && r.URL.Path == path:
		object, err = a.store.Get(r.Context(), cases.Target)
	case r.Method == http.MethodPatch && r.URL.Path == path+"/status":
		object, err = a.apply(r)
	default:
		refuse(w, http.StatusNotFound, metav1.StatusReasonNotFound)
		return
	}
	switch {
	case errors.Is(err, publish.ErrChanged), errors.Is(err, fault.Conflict):
		refuse(w, http.StatusConflict, metav1.StatusReasonConflict)
	case err != nil:
		refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object.Object) // the client may be gone
	}
}

func (a *fakeAPI) apply(r *http.Request) (*unstructured.Unstructured, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	manager := r.URL.Query().Get("fieldManager")
	if r.Header.Get("Content-Type") == "application/json-patch+json" {
		return a.store.Patch(r.Context(), cases.Target, body, manager)
	}
	applied := &unstructured.Unstructured{}
	if err := applied.UnmarshalJSON(body); err != nil {
		return nil, err
	}
	a.applies.Add(1)
	stored, err := a.store.Apply(r.Context(), cases.Target, applied,
		publish.ApplyOptions{Manager: manager, Force: r.URL.Query().Get("force") == "true"})
	if a.applied != nil {
		a.applied()
	}
	return stored, err
}

// refuse answers as the API server does.
func refuse(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reason, Message: "the API server quotes " + canary,
	})
}
