package publish_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/publish"
)

func TestAPublicationThatIsUndoneIsDoneAgain(t *testing.T) {
	const former = `{currentPromotion: {name: test.02}, metadata: {links: {a: {url: "https://old.example.com", label: Old}, b: {url: "https://b.example.com"}},
		provenance: {publish: {stage: test, promotion: test.01, step: publish, entries: {links: [a, b]}}}}}`
	whole := fmt.Sprintf(`[{op: add, path: /status, value: %s}]`, former)
	for name, patch := range map[string]string{
		"with all that stood before": whole,
		"with a changed leaf":        `[{op: replace, path: /status/metadata/links/a/url, value: "https://old.example.com"}]`,
		"with a leaf more":           `[{op: add, path: /status/metadata/links/a/label, value: Old}]`,
		"with a pruned entry":        `[{op: add, path: /status/metadata/links/b, value: {url: "https://b.example.com"}}]`,
		"without the entry":          `[{op: remove, path: /status/metadata/links/a}]`,
		"without the key":            `[{op: remove, path: /status/metadata/links}]`,
		"without any metadata":       `[{op: remove, path: /status/metadata}]`,
		"without the provenance":     `[{op: remove, path: /status/metadata/provenance}]`,
		"with the former provenance": `[{op: replace, path: /status/metadata/provenance/publish/promotion, value: test.01}]`,
		"with a null in its place":   `[{op: add, path: /status/metadata/links/a, value: null}]`,
		"with a text in its place":   `[{op: add, path: /status/metadata/links, value: x}]`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newStub(t, former)
				reverts := 0
				started, written := time.Now(), time.Now()
				client.apply = func(int) error { written = time.Now(); return nil }
				client.patch = client.apply
				client.get = func(int) error {
					if reverts < 3 && time.Since(written) > 0 { // it is read back
						reverts, written = reverts+1, time.Now()
						client.revert(t, patch)
					}
					return nil
				}
				report, err := run(t.Context(), t, client, config, time.Second)
				require.NoError(t, err)
				require.Equal(t, link, client.links())
				require.Equal(t, 3, reverts)
				require.Equal(t, 3, report.Reasserted)
				require.GreaterOrEqual(t, time.Since(started), time.Second)
				promotion, _, _ := unstructured.NestedString(client.Object().Object, "status", "metadata", "provenance", "publish", "promotion")
				require.Equal(t, "test.02", promotion)
			})
		})
	}
}

func TestWhatIsGoneStaysKnownWhileTheTargetChanges(t *testing.T) {
	const former = `{metadata: {links: {a: {url: "https://a.example.com"}, b: {url: "https://b.example.com"}},
		provenance: {publish: {stage: test, promotion: test.01, step: publish, entries: {links: [a, b]}}}}}`
	for _, settle := range []time.Duration{0, time.Second} {
		synctest.Test(t, func(t *testing.T) {
			client := newStub(t, former) // without managedFields an apply removes nothing: b is residue
			client.patch = func(n int) error {
				if n <= 3 {
					return publish.ErrChanged
				}
				return nil
			}
			_, err := run(t.Context(), t, client, config, settle)
			require.NoError(t, err)
			require.Equal(t, link, client.links())
			require.Equal(t, 4, client.patched)
		})
	}
}

func TestManagedFieldsMayBeClearedAtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newStub(t, `{metadata: {links: {a: {url: "https://a.example.com/old"}, b: {url: "https://b.example.com"}},
			provenance: {publish: {stage: test, promotion: test.01, step: publish, entries: {links: [a, b]}}}}}`)
		client.seen = func(live *unstructured.Unstructured) { live.SetManagedFields(nil) }
		report, err := run(t.Context(), t, client, config, time.Second)
		require.NoError(t, err)
		require.Equal(t, link, client.links())
		require.Zero(t, report.Reasserted)
	})
}

func TestKeptEntriesAreDoneAgainToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newStub(t, current)
		_, err := run(t.Context(), t, client, config, 0)
		require.NoError(t, err)
		reverted := false
		client.get = func(int) error {
			if client.applied > 1 && !reverted {
				reverted = true
				client.revert(t, `[{op: remove, path: /status/metadata}]`)
			}
			return nil
		}
		report, err := run(t.Context(), t, client, `{metadata: [{key: links, fromExpression: outputs.none, onMissing: keep}]}`, time.Second)
		require.NoError(t, err)
		require.True(t, reverted)
		require.Equal(t, link, client.links())
		require.Equal(t, 1, report.Reasserted)
		require.Equal(t, map[string][]string{"links": {"a"}}, report.Published)
	})
}

func TestAWithdrawalThatIsUndoneIsDoneAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newStub(t, current)
		_, err := run(t.Context(), t, client, config, 0)
		require.NoError(t, err)
		before, reverted := client.Object().Object["status"], false
		client.get = func(int) error {
			if client.applied > 1 && !reverted {
				reverted = true
				encoded, err := (&unstructured.Unstructured{Object: map[string]any{"kind": "x", "status": before}}).MarshalJSON()
				require.NoError(t, err)
				client.revert(t, `[{op: add, path: /status, value: `+string(encoded[len(`{"kind":"x","status":`):len(encoded)-2])+`}]`)
			}
			return nil
		}
		report, err := run(t.Context(), t, client, `{metadata: []}`, time.Second)
		require.NoError(t, err)
		require.True(t, reverted)
		require.Equal(t, 1, report.Reasserted)
		require.NotContains(t, client.Object().Object["status"], "metadata")
	})
}
