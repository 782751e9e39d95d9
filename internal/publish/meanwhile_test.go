package publish_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
)

const published = `{metadata: {links: {a: {url: "https://old.example.com"}}, provenance: {publish: {stage: test, promotion: test.01, step: publish, entries: {links: [a]}}}}}`

// applyAs does what a later promotion of the same producer does.
func applyAs(t testing.TB, client *stub, promotion string) {
	t.Helper()
	links := map[string]any{"b": map[string]any{"url": "https://b.example.com"}}
	body := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": publish.APIVersion, "kind": "Stage", "metadata": map[string]any{"name": "test", "namespace": "demo"},
		"status": map[string]any{"metadata": map[string]any{"links": links, "provenance": map[string]any{"publish": map[string]any{
			"stage": "test", "promotion": promotion, "step": "publish", "entries": map[string]any{"links": []any{"b"}},
		}}}},
	}}
	_, err := client.Store.Apply(t.Context(), target, body, publish.ApplyOptions{Manager: "publish-metadata/publish", Force: true})
	require.NoError(t, err)
}

func TestWhereNoCurrentPromotionTellsTheProvenanceDoes(t *testing.T) {
	for _, config := range []string{config, `{metadata: []}`} {
		synctest.Test(t, func(t *testing.T) {
			client := newStub(t, published)
			client.get = func(n int) error {
				if n == 2 {
					applyAs(t, client, "test.03")
				}
				return nil
			}
			_, err := run(t.Context(), t, client, config, time.Second)
			require.ErrorIs(t, err, fault.Superseded)
			require.ErrorContains(t, err, "has published in promotion test.03 meanwhile")
			links, _ := client.links().(map[string]any)
			require.Equal(t, map[string]any{"url": "https://b.example.com"}, links["b"])
		})
	}
}

func TestAnOlderProvenanceThatIsWrittenBackIsUndone(t *testing.T) {
	for _, promotion := range []string{"test.00", "test.01", "test.02"} {
		synctest.Test(t, func(t *testing.T) {
			client := newStub(t, published)
			client.get = func(n int) error {
				if n == 2 {
					client.revert(t, `[{op: replace, path: /status/metadata/provenance/publish/promotion, value: `+promotion+`},
						{op: replace, path: /status/metadata/links/a/url, value: "https://older.example.com"}]`)
				}
				return nil
			}
			report, err := run(t.Context(), t, client, config, time.Second)
			require.NoError(t, err)
			require.Equal(t, 1, report.Reasserted)
			require.Equal(t, link, client.links())
		})
	}
}

func TestAnEntryThatIsTakenOverWhileItSettlesIsSaidToBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newStub(t, current)
		client.get = func(n int) error {
			if n == 2 {
				body := &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": publish.APIVersion, "kind": "Stage", "metadata": map[string]any{"name": "test", "namespace": "demo"},
					"status": map[string]any{"metadata": map[string]any{"links": map[string]any{"a": map[string]any{"url": "https://b.example.com"}}}},
				}}
				_, err := client.Store.Apply(t.Context(), target, body, publish.ApplyOptions{Manager: "publish-metadata/other", Force: true})
				require.NoError(t, err)
			}
			return nil
		}
		report, err := run(t.Context(), t, client, `{metadata: [{key: links, value: {a: {url: "https://a.example.com"}, z: {url: "https://z.example.com"}}}]}`, time.Second)
		require.ErrorIs(t, err, fault.Conflict)
		require.ErrorContains(t, err, "it was published, but others have taken entries over before it had held: /status/metadata/links/a: owned by the producer other")
		require.Equal(t, map[string][]string{"links": {"z"}}, report.Published)
		require.True(t, report.Changed)
	})
}

func TestAnotherStepOfTheSamePromotionIsNamedWhileItSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newStub(t, current)
		client.get = func(n int) error {
			if n == 2 {
				client.revert(t, `[{op: replace, path: /status/metadata/provenance/publish/step, value: other}]`)
			}
			return nil
		}
		_, err := run(t.Context(), t, client, config, time.Second)
		require.ErrorIs(t, err, fault.Conflict)
		require.ErrorContains(t, err, "by step other: give one of the steps another producer")
	})
}
