package schema_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/kargo-steps/publish-metadata/internal/contained"
	"github.com/kargo-steps/publish-metadata/schema"
)

// load reads a YAML file of cases.
func load[T any](t *testing.T, path ...string) T {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, path...)...))
	require.NoError(t, err)
	decoder := yaml.NewDecoder(strings.NewReader(string(raw)))
	decoder.KnownFields(true)
	var cases T
	require.NoError(t, decoder.Decode(&cases))
	require.NotEmpty(t, cases)
	return cases
}

// tree is a JSON-native value in a YAML file.
type tree struct{ value any }

func (n *tree) UnmarshalYAML(node *yaml.Node) error {
	var v any
	if err := node.Decode(&v); err != nil {
		return err
	}
	n.value = native(v)
	return nil
}

func native(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case uint64:
		return float64(v)
	case []any:
		for i := range v {
			v[i] = native(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = native(v[key])
		}
	}
	return v
}

// fragments are parts of the messages at one place: a text, or a list of them.
type fragments []string

func (f *fragments) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.SequenceNode {
		return node.Decode((*[]string)(f))
	}
	*f = fragments{node.Value}
	return nil
}

// expected is the problems of a case: by place, a part of each message.
type expected map[string]fragments

// requireProblems fails unless there is a problem for each part, and no other.
func requireProblems(t *testing.T, want expected, got schema.Problems) {
	t.Helper()
	left := append(schema.Problems(nil), got...)
	for pointer, parts := range want {
		for _, part := range parts {
			found := false
			for i, problem := range left {
				if problem.Pointer == pointer && strings.Contains(problem.Message, part) {
					left = append(left[:i:i], left[i+1:]...)
					found = true
					break
				}
			}
			assert.Truef(t, found, "no problem %q at %q in:\n%s", part, pointer, lines(got))
		}
	}
	assert.Emptyf(t, left, "not expected:\n%s", lines(left))
	assert.Equal(t, got.Sorted(), got, "sorted")
}

func lines(problems schema.Problems) string {
	var text strings.Builder
	for _, problem := range problems {
		text.WriteString(problem.Pointer + ": " + problem.Message + "\n")
	}
	return text.String()
}

// compileProblems returns the problems of a document, nil if it compiles.
func compileProblems(t *testing.T, document any) schema.Problems {
	t.Helper()
	_, err := schema.Compile(document)
	if err == nil {
		return nil
	}
	var problems schema.Problems
	require.ErrorAs(t, err, &problems)
	return problems
}

// isContained fails unless run ends within the deadline and within 64 MiB: a server
// may have to contain several at once.
func isContained(t *testing.T, run func()) {
	t.Helper()
	const limit = 64 << 20
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var peak atomic.Uint64
	done := make(chan struct{})
	go func() {
		defer close(done)
		run()
	}()
	deadline := time.After(contained.Deadline)
	for {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		peak.Store(max(peak.Load(), now.HeapAlloc))
		select {
		case <-done:
			require.Less(t, int64(peak.Load())-int64(before.HeapAlloc), int64(limit), "memory")
			return
		case <-deadline:
			require.FailNow(t, "did not end within the deadline")
		case <-time.After(2 * time.Millisecond):
		}
	}
}
