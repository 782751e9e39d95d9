package stagecontroller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUndoneWritesAreCountedByTheirKind(t *testing.T) {
	entry := func(url string) map[string]any { return map[string]any{"url": url, "label": "x"} }
	links := func(links map[string]any) map[string]any {
		return map[string]any{"metadata": map[string]any{"links": links}}
	}
	for name, test := range map[string]struct {
		mine, stands map[string]any
		want         Counts
	}{
		"nothing came in between": {
			mine: links(map[string]any{"a": entry("1")}), stands: links(map[string]any{"a": entry("1")}),
		},
		"a change outside the metadata": {
			mine: map[string]any{"freightSummary": "1"}, stands: map[string]any{"freightSummary": "2"},
		},
		"a changed leaf": {
			mine: links(map[string]any{"a": entry("1")}), stands: links(map[string]any{"a": entry("2")}),
			want: Counts{Undone: 1, Changed: 1},
		},
		"an entry that shrunk": {
			mine: links(map[string]any{"a": entry("1")}), stands: links(map[string]any{"a": map[string]any{"url": "1"}}),
			want: Counts{Undone: 1, Restored: 1},
		},
		"an entry that was pruned": {
			mine: links(map[string]any{"a": entry("1"), "b": entry("2")}), stands: links(map[string]any{"b": entry("2")}),
			want: Counts{Undone: 1, Restored: 1},
		},
		"a new entry and a new key": {
			mine: links(map[string]any{"b": entry("2")}),
			stands: map[string]any{"metadata": map[string]any{
				"links": map[string]any{"a": entry("1"), "b": entry("2")}, "checks": map[string]any{"a": entry("1")},
			}},
			want: Counts{Undone: 1, Removed: 2},
		},
		"the first metadata of all": {
			mine: map[string]any{}, stands: links(map[string]any{"a": entry("1")}),
			want: Counts{Undone: 1, Removed: 1},
		},
		"metadata that was withdrawn altogether": {
			mine: links(map[string]any{"a": entry("1")}), stands: map[string]any{},
			want: Counts{Undone: 1, Restored: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			patch, err := difference(test.stands, test.mine)
			require.NoError(t, err)
			var got Counts
			got.addUndone(patch, test.stands)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestTheReconcilingConditionLeavesOthersAlone(t *testing.T) {
	ready := map[string]any{"type": "Ready", "status": "True"}
	status := map[string]any{"conditions": []any{ready}}
	setReconciling(status, "step 0")
	setReconciling(status, "step 1")
	conditions := status["conditions"].([]any)
	require.Len(t, conditions, 2)
	assert.Equal(t, "step 1", conditions[1].(map[string]any)["message"])
	setReconciling(status, "")
	assert.Equal(t, map[string]any{"conditions": []any{ready}}, status)

	empty := map[string]any{}
	setReconciling(empty, "step 0")
	setReconciling(empty, "")
	assert.Empty(t, empty)
}
