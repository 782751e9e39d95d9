package examples_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
	"github.com/kargo-steps/publish-metadata/internal/server"
	"github.com/kargo-steps/publish-metadata/step"
)

// inCluster is where the task finds the service.
const inCluster = "https://publish-metadata.publish-metadata.svc"

var target = decode.Target{Kind: "Stage", Namespace: "demo", Name: "test"}

// api is an API server with the Stage demo/test, for anybody who has the token.
type api struct {
	store *offline.Store
	// instead, if set, may answer first; it then returns true.
	instead func(w http.ResponseWriter, r *http.Request) bool
}

const token = "token-of-the-project"

func newAPI(t testing.TB) *api {
	t.Helper()
	store, err := offline.Read([]byte(`{apiVersion: kargo.akuity.io/v1alpha1, kind: Stage, ` +
		`metadata: {name: test, namespace: demo}, status: {currentPromotion: {name: test.01}}}`))
	require.NoError(t, err)
	return &api{store: store}
}

func (a *api) metadata() map[string]any {
	metadata, _, _ := unstructured.NestedMap(a.store.Object().Object, "status", "metadata")
	return metadata
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const path = "/apis/kargo.akuity.io/v1alpha1/namespaces/demo/stages/test"
	body, err := io.ReadAll(r.Body)
	object := &unstructured.Unstructured{}
	switch {
	case err != nil, a.instead != nil && a.instead(w, r):
		return
	case r.Header.Get("Authorization") != "Bearer "+token:
		refuse(w, http.StatusUnauthorized)
		return
	case r.Method == http.MethodGet && r.URL.Path == path:
		object, err = a.store.Get(r.Context(), target)
	case r.Method == http.MethodPatch && r.URL.Path == path+"/status" && r.Header.Get("Content-Type") == "application/json-patch+json":
		object, err = a.store.Patch(r.Context(), target, body, r.URL.Query().Get("fieldManager"))
	case r.Method == http.MethodPatch && r.URL.Path == path+"/status":
		if err = object.UnmarshalJSON(body); err == nil {
			object, err = a.store.Apply(r.Context(), target, object, publish.ApplyOptions{
				Manager: r.URL.Query().Get("fieldManager"), Force: r.URL.Query().Get("force") == "true"})
		}
	default:
		refuse(w, http.StatusNotFound)
		return
	}
	switch {
	case errors.Is(err, publish.ErrChanged), errors.Is(err, fault.Conflict):
		refuse(w, http.StatusConflict)
	case err != nil:
		refuse(w, http.StatusInternalServerError)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(object.Object) // the client may be gone
	}
}

var reasons = map[int]metav1.StatusReason{
	401: metav1.StatusReasonUnauthorized, 403: metav1.StatusReasonForbidden, 404: metav1.StatusReasonNotFound,
	409: metav1.StatusReasonConflict, 429: metav1.StatusReasonTooManyRequests,
	500: metav1.StatusReasonInternalError, 503: metav1.StatusReasonServiceUnavailable,
}

// refuse answers as an API server does.
func refuse(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(code), Reason: reasons[code],
	})
}

// newService returns the URL of the service for an API server.
func newService(t testing.TB, cluster http.Handler, change func(*server.Options)) string {
	t.Helper()
	upstream := httptest.NewServer(cluster)
	t.Cleanup(upstream.Close)
	runner, err := step.NewRunner(nil, step.WithSettle(0))
	require.NoError(t, err)
	options := server.DefaultOptions()
	options.Cluster, options.Runner, options.RequestTimeout = &rest.Config{Host: upstream.URL}, runner, 2*time.Second
	if change != nil {
		change(&options)
	}
	served, err := server.New(options)
	require.NoError(t, err)
	door := httptest.NewServer(served.Handler())
	t.Cleanup(door.Close)
	return door.URL
}

// newPromotion returns the promotion test.01 of the Stage demo/test.
func newPromotion(service string) *promotion {
	return &promotion{
		project: "demo", stage: "test", name: "test.01", service: service,
		secrets: map[string]map[string]string{"publish-metadata-token": {"token": token}},
		state:   map[string]any{},
	}
}
