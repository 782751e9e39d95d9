package publish_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// hasExtraLeaf is a status whose entry has a leaf that an apply leaves: it is
// removed by a patch after the apply.
const hasExtraLeaf = `{metadata: {links: {a: {url: "https://a.example.com", label: A}}}}`

// hasResidue is a status with an entry that its producer does not publish any
// more, and that an apply leaves: it is removed by a patch before the apply.
const hasResidue = `{metadata: {links: {b: {url: "https://b.example.com"}}, provenance: {publish: {entries: {links: [b]}}}}}`

func TestResidueIsRemovedBeforeTheProvenanceForgetsIt(t *testing.T) {
	client := newStub(t, hasResidue)
	ctx, cancel := context.WithCancel(t.Context())
	client.apply = func(int) error { cancel(); return nil }
	report, err := run(ctx, t, client, config, 0)
	require.ErrorIs(t, err, fault.Timeout)
	require.Nil(t, report.Published)
	require.True(t, report.Changed, "what was removed is reported")

	client.apply = nil
	report, err = run(t.Context(), t, client, config, 0)
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"links": {"a"}}, report.Published)
	links, _, err := unstructured.NestedMap(client.Object().Object, "status", "metadata", "links")
	require.NoError(t, err)
	require.NotContains(t, links, "b")
}

func TestAPublicationEndsWithItsContextAtEveryCall(t *testing.T) {
	late := func(cancel func()) func(int) error {
		return func(int) error { cancel(); return nil }
	}
	tests := map[string]struct {
		prepare   func(client *stub, cancel func())
		kind      fault.Kind
		published bool
	}{
		"at the first read": {func(c *stub, cancel func()) { c.get = late(cancel) }, fault.Timeout, false},
		"at the apply":      {func(c *stub, cancel func()) { c.apply = late(cancel) }, fault.Timeout, false},
		"after the apply":   {func(c *stub, cancel func()) { c.stored = func(int, *unstructured.Unstructured) { cancel() } }, fault.NotSettled, true},
		"at the patch":      {func(c *stub, cancel func()) { c.patch = late(cancel) }, fault.NotSettled, true},
		"at the second read": {func(c *stub, cancel func()) {
			c.get = func(n int) error {
				if n > 2 {
					cancel()
				}
				return nil
			}
		}, fault.NotSettled, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newStub(t, hasExtraLeaf)
				ctx, cancel := context.WithCancel(t.Context())
				test.prepare(client, cancel)
				report, err := run(ctx, t, client, config, time.Second)
				require.ErrorIs(t, err, test.kind)
				require.ErrorIs(t, err, context.Canceled)
				require.Equal(t, test.published, report.Published != nil)
				require.Equal(t, test.published, report.Changed)
			})
		})
	}
}

func TestAPublicationThatIsNotSettledOffIsTimedOut(t *testing.T) {
	client := newStub(t, hasExtraLeaf)
	ctx, cancel := context.WithCancel(t.Context())
	client.patch = func(int) error { cancel(); return nil }
	report, err := run(ctx, t, client, config, 0)
	require.ErrorIs(t, err, fault.Timeout)
	require.ErrorContains(t, err, "before the publication was complete")
	require.NotNil(t, report.Published)
}

func TestAnErrorKeepsTheReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newStub(t, current)
		client.get = func(n int) error {
			if n == 3 {
				return fault.New(fault.Unavailable, target.String(), "away", nil)
			}
			return nil
		}
		report, err := run(t.Context(), t, client, config, time.Second)
		require.ErrorIs(t, err, fault.Unavailable)
		require.Equal(t, map[string][]string{"links": {"a"}}, report.Published)
		require.True(t, report.Changed)
	})
}

func TestAnErrorThatNoRetryCanHelpIsToldWhenTheContextEndsToo(t *testing.T) {
	client := newStub(t, "{currentPromotion: {name: test.03}}")
	ctx, cancel := context.WithCancel(t.Context())
	client.seen = func(*unstructured.Unstructured) { cancel() }
	_, err := run(ctx, t, client, config, 0)
	require.ErrorIs(t, err, fault.Superseded)
}

func TestAPromotionThatIsNotTheCurrentOneStops(t *testing.T) {
	for name, test := range map[string]struct {
		status string
		change string
		fails  bool
	}{
		"from the first":                           {"{currentPromotion: {name: test.03}}", "", true},
		"when another takes its turn":              {current, `[{op: replace, path: /status/currentPromotion/name, value: test.03}]`, true},
		"when it is over":                          {current, `[{op: remove, path: /status/currentPromotion}]`, true},
		"when another comes though none was there": {"{}", `[{op: add, path: /status/currentPromotion, value: {name: test.03}}]`, true},
		"but not while none is known":              {"{}", `[{op: add, path: /status/health, value: x}]`, false},
		"but not when it becomes the current one":  {"{}", `[{op: add, path: /status/currentPromotion, value: {name: test.02}}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newStub(t, test.status)
				client.get = func(n int) error {
					if n == 2 {
						client.revert(t, test.change)
					}
					return nil
				}
				_, err := run(t.Context(), t, client, config, time.Second)
				if test.fails {
					require.ErrorIs(t, err, fault.Superseded)
					return
				}
				require.NoError(t, err)
			})
		})
	}
}

func TestATargetThatIsCreatedAnewIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newStub(t, current)
		client.seen = func(live *unstructured.Unstructured) {
			if client.gotten > 1 {
				live.SetUID("two")
			}
		}
		report, err := run(t.Context(), t, client, config, time.Second)
		require.ErrorIs(t, err, fault.NotFound)
		require.ErrorContains(t, err, "created anew")
		require.NotNil(t, report.Published)
		require.Equal(t, 1, client.applied)
	})
}
