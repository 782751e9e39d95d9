package cases

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/value"
)

// The Stage of every case. A door may put it into another namespace: it then
// puts that into the requests too.
const (
	Project = "demo"
	Stage   = "test"
)

// Door is a way in, with the Stage that it publishes to.
type Door interface {
	// Run sends a request document and returns the result document.
	Run(t testing.TB, request []byte) []byte
	// Stage returns the Stage as it is stored.
	Stage(t testing.TB) map[string]any
	// Version returns a text that changes whenever the Stage changes.
	Version(t testing.TB) string
	// Write does what somebody else does.
	Write(t testing.TB, write Write)
}

// Result is a result document.
type Result struct {
	Status  string         `json:"status"`
	Message string         `json:"message"`
	Output  map[string]any `json:"output"`
}

// Play plays every case as a subtest, each with a Door of its own.
func Play(t *testing.T, open func(t *testing.T, c Case) Door) {
	for file, cases := range All(t) {
		for _, c := range cases {
			t.Run(file+"/"+c.Name, func(t *testing.T) {
				require.NotEmpty(t, c.Runs)
				door := open(t, c)
				for _, run := range c.Runs {
					run.play(t, door)
				}
			})
		}
	}
}

func (r Run) play(t *testing.T, door Door) {
	for _, write := range r.Before {
		door.Write(t, write)
	}
	before := door.Version(t)
	var result Result
	require.NoError(t, strict(door.Run(t, r.Document(t)), &result))
	require.Equal(t, r.Want.Status, result.Status, result.Message)
	for _, part := range r.Want.Message {
		assert.Contains(t, result.Message, part)
	}
	for _, text := range r.Want.Not {
		assert.NotContains(t, result.Message, text)
	}
	if r.Want.Unchanged {
		assert.Equal(t, before, door.Version(t), "the Stage has changed")
	}
	for name, member := range r.Want.Output {
		assert.Equal(t, canonical(t, member), canonical(t, result.Output[name]), "output.%s", name)
	}
	r.Want.compare(t, door.Stage(t))
}

// compare compares the stored metadata with what is wanted.
func (w Want) compare(t *testing.T, stage map[string]any) {
	status, _ := stage["status"].(map[string]any)
	metadata, stands := status["metadata"].(map[string]any)
	if w.Gone {
		assert.False(t, stands, "status.metadata stands: %s", canonical(t, metadata))
	}
	if w.Provenance != nil {
		assert.Equal(t, canonical(t, w.Provenance), canonical(t, metadata["provenance"]), "provenance")
	}
	if w.Metadata == nil {
		return
	}
	content := make(map[string]any)
	for key, entries := range metadata {
		if key != "provenance" {
			content[key] = entries
		}
	}
	assert.Equal(t, canonical(t, w.Metadata), canonical(t, content), "metadata")
}

// canonical returns a tree as text, numbers as they are published.
func canonical(t testing.TB, tree any) string {
	native, problems := value.Native(tree, "", value.DefaultLimits)
	require.Empty(t, problems)
	text, err := value.Marshal(native)
	require.NoError(t, err)
	return string(text)
}

// strict decodes JSON and refuses members that into does not have.
func strict(source []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(source))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	return decoder.Decode(into)
}
