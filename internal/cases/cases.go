// Package cases holds the cases that every door has to pass: data files, and the
// code that plays them.
//
// In: a Door, made by the tests of a door. Out: a failed test where the door does
// something else than the case says.
package cases

import (
	"embed"
	"encoding/json"
	"io/fs"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/value"
)

//go:embed testdata/*.yaml
var files embed.FS

// Case is a sequence of runs against one Stage.
type Case struct {
	// Name is a sentence that says what is right.
	Name string `json:"name"`
	// Current is the Stage's status.currentPromotion at first; "" is none.
	Current string `json:"current"`
	// Metadata is the Stage's status.metadata at first, owned by nobody.
	Metadata map[string]any `json:"metadata"`
	Runs     []Run          `json:"runs"`
}

// Run is one request, what others do before it, and what has to come of it.
type Run struct {
	Before []Write `json:"before"`
	// Request is the whole document as text; else it is made of the parts below.
	Request string `json:"request"`
	// As is the step's alias, Promotion the promotion's name, Stage the stage's.
	As        string         `json:"as"`
	Promotion string         `json:"promotion"`
	Context   map[string]any `json:"context"`
	Outputs   map[string]any `json:"outputs"`
	Config    any            `json:"config"`
	Want      Want           `json:"want"`
}

// Write is what somebody else does to the Stage. Exactly one member is set.
type Write struct {
	// Apply is status.metadata that a manager applies server-side.
	Apply map[string]any `json:"apply"`
	// Update is a JSON Merge Patch of the Stage.
	Update map[string]any `json:"update"`
	// Current sets status.currentPromotion, "none" removes it.
	Current string `json:"current"`
	// Manager is the field manager of Apply and Update.
	Manager            string `json:"manager"`
	ClearManagedFields bool   `json:"clearManagedFields"`
}

// Want is what has to come of a run. What is left out may be anything.
type Want struct {
	Status string `json:"status"`
	// Message are parts of the message.
	Message []string `json:"message"`
	// Not are texts that are nowhere in the message.
	Not []string `json:"not"`
	// Metadata is status.metadata afterwards, provenance left out.
	Metadata map[string]any `json:"metadata"`
	// Gone says that there is no status.metadata at all.
	Gone bool `json:"gone"`
	// Provenance is status.metadata.provenance afterwards.
	Provenance map[string]any `json:"provenance"`
	// Output has members that the output has to have.
	Output map[string]any `json:"output"`
	// Unchanged says that the target is as it was, to the byte.
	Unchanged bool `json:"unchanged"`
}

// All returns the cases by file.
func All(t testing.TB) map[string][]Case {
	t.Helper()
	names, err := fs.Glob(files, "testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	all := make(map[string][]Case)
	for _, name := range names {
		source, err := files.ReadFile(name)
		require.NoError(t, err)
		tree, err := document.ParseYAML(source)
		require.NoError(t, err, name)
		encoded, err := value.Marshal(tree)
		require.NoError(t, err)
		var cases []Case
		require.NoError(t, strict(encoded, &cases), name)
		require.NotEmpty(t, cases, name)
		all[name] = cases
	}
	return all
}

// Document returns the request of a run.
func (r Run) Document(t testing.TB) []byte {
	t.Helper()
	if r.Request != "" {
		return []byte(r.Request)
	}
	promotion, alias := r.Promotion, r.As
	if promotion == "" {
		promotion = "test.01.abc"
	}
	if alias == "" {
		alias = "publish"
	}
	context := map[string]any{
		"project": Project, "stage": Stage, "promotion": promotion,
		"targetFreight": map[string]any{"name": "abc"},
		"meta": map[string]any{
			"step": map[string]any{"alias": alias}, "promotion": map[string]any{"actor": "admin"},
		},
	}
	maps.Copy(context, r.Context)
	for name, member := range context {
		if member == nil {
			delete(context, name)
		}
	}
	request := map[string]any{"context": context, "config": r.Config}
	if r.Outputs != nil {
		request["outputs"] = r.Outputs
	}
	encoded, err := json.Marshal(request)
	require.NoError(t, err)
	return encoded
}
