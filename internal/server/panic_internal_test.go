package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
)

func TestAPanicIsAnsweredAndCounted(t *testing.T) {
	var logs bytes.Buffer
	options := DefaultOptions()
	options.Cluster, options.Log = &rest.Config{Host: "http://127.0.0.1:1"}, slog.New(slog.NewJSONHandler(&logs, nil))
	s, err := New(options)
	require.NoError(t, err)
	s.runner = nil // the bug
	for range 2 {
		w := httptest.NewRecorder()
		body := `{"context": {"project": "canary"}, "config": {"metadata": []}}`
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/publish", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer canary-token")
		s.Handler().ServeHTTP(w, r)
		require.Equal(t, 500, w.Code)
		var p problem
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &p))
		assert.True(t, p.Retryable)
		assert.Equal(t, problemTypes+"internal", p.Type)
	}
	assert.Empty(t, s.slots, "the slot is given back")
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	assert.Contains(t, w.Body.String(), "publish_metadata_panics_total 2")
	assert.Contains(t, logs.String(), "nil pointer dereference")
	assert.Contains(t, logs.String(), "publish.go", "the log says where")
	assert.NotContains(t, logs.String(), "canary-token")

	s.panicked("canary-text")
	s.panicked(errors.New("canary-error"))
	assert.NotContains(t, logs.String(), "canary-text")
	assert.NotContains(t, logs.String(), "canary-error")
	assert.Contains(t, logs.String(), "*errors.errorString")
}
