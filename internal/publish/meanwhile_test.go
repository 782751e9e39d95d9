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

func TestWhereNoCurrentPromotionTellsTheProvenanceDoes(t *testing.T) {
	for name, test := range map[string]struct {
		promotion string
		fails     bool
	}{
		"another promotion that has published meanwhile ends the run":    {"test.03", true},
		"the provenance from before the run is a write that is undone":   {"test.01", false},
		"the run's own provenance, with an entry changed, is undone too": {"test.02", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newStub(t, `{metadata: {links: {a: {url: "https://old.example.com"}}, provenance: {publish: {stage: test, promotion: test.01, step: publish, entries: {links: [a]}}}}}`)
				client.get = func(n int) error {
					if n == 2 {
						client.revert(t, `[{op: replace, path: /status/metadata/provenance/publish/promotion, value: `+test.promotion+`},
							{op: replace, path: /status/metadata/links/a/url, value: "https://new.example.com"}]`)
					}
					return nil
				}
				report, err := run(t.Context(), t, client, config, time.Second)
				if test.fails {
					require.ErrorIs(t, err, fault.Superseded)
					require.ErrorContains(t, err, "has published in promotion test.03 meanwhile")
					require.Equal(t, 1, client.applied)
					return
				}
				require.NoError(t, err)
				require.Equal(t, 1, report.Reasserted)
				require.Equal(t, link, client.links())
			})
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
