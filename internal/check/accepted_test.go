package check_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
)

const accepted = contextText + `
outputs:
  ship::a: {metadata: {links: {inner: {url: "https://inner.example.com"}}}}
  a: {metadata: {links: {outer: {url: "https://outer.example.com"}}}}
  step-2: {metadata: {tickets: [{key: PAY-1, system: jira, title: null}, {system: jira, key: PAY-1}]}}
config:
  target: {name: prod}
  settle: 250ms
  metadata:
  - {fromStep: {as: a}}
  - {key: links, onConflict: takeOver, value: {inner: {url: "https://inner.example.com", label: null}, none: null}}
  - {key: tickets, fromStep: {as: step-2}}
  - {key: checks, fromStep: {as: nope}, onMissing: remove}
  - {key: environments, fromExpression: outputs.nope.x, onMissing: keep}
  - {fromStep: {as: nope}, onMissing: remove}
  - {key: example.com/x, schema: true, value: {a: {b: {c: {}, d: null}, e: [null, {}]}, f: {g: {}}, h: x}}
`

func TestAnEmptyEntryIsNoEntry(t *testing.T) {
	_, err := checked(t.Context(), t, strings.Replace(accepted, "none: null", "none: null, empty: {}", 1))
	var failure *fault.Error
	require.ErrorAs(t, err, &failure)
	require.Len(t, failure.Problems, 1)
	require.Contains(t, err.Error(), "/config/metadata/1/value/empty: links: ", "it lacks its url")
}

func TestWhatIsAccepted(t *testing.T) {
	publication, err := checked(t.Context(), t, accepted)
	require.NoError(t, err)
	require.Equal(t, map[string]map[string]any{
		"links":         {"inner": map[string]any{"url": "https://inner.example.com"}},
		"tickets":       {"jira/PAY-1": map[string]any{"key": "PAY-1", "system": "jira"}},
		"example.com/x": {"a": map[string]any{"e": []any{nil, map[string]any{}}}, "h": "x"},
	}, publication.Metadata())
	require.Equal(t, []string{"environments"}, publication.Keep())
	require.True(t, publication.TakesOver(check.Place{Key: "links", Entry: "inner"}))
	require.False(t, publication.TakesOver(check.Place{Key: "tickets", Entry: "jira/PAY-1"}))
	require.Equal(t, decode.Target{Kind: "Stage", Namespace: "demo", Name: "prod"}, publication.Target())
	require.Equal(t, "test.ship::links", publication.Owner())
	require.Equal(t, "publish-metadata/test.ship::links", publication.Manager())
	require.False(t, publication.OnPromotedStage())
	require.Equal(t, 250*time.Millisecond, publication.Settle(time.Second))
	require.Equal(t, "links.inner", check.Place{Key: "links", Entry: "inner"}.String())
	for i, part := range []string{
		"/config/metadata/1: links.none is null: nothing is published there",
		"/config/metadata/2: step-2 is the position of a step that has no name",
		"/config/metadata/3: step nope has no output; the steps with outputs are a, ship::a, step-2; onMissing is remove",
		"/config/metadata/4: ", "/config/metadata/5: step nope has no output",
		"/config/metadata/4/onMissing: keeps all of environments, also what the step at /config/metadata/5/fromStep, which is missing too, may have",
		"/config/metadata/6/value/f: an empty object is not stored", "example.com/x: unchecked, its schema accepts everything",
	} {
		require.Contains(t, publication.Warnings()[i], part)
	}
	require.Len(t, publication.Warnings(), 8)

	plain, err := checked(t.Context(), t, contextText+"config: {target: {kind: Freight}, metadata: []}")
	require.NoError(t, err)
	require.Equal(t, "Freight demo/abc", plain.Target().String())
	require.Equal(t, time.Second, plain.Settle(time.Second))
	require.Empty(t, plain.Metadata())
}
