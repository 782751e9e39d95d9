package publish

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/value"
)

// managed is metadata.managedFields with one manager who has fields below
// status.metadata.
func managed(manager, operation, fields string) string {
	return fmt.Sprintf("{manager: %q, operation: %s, subresource: status, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {f:status: {f:metadata: %s}}}",
		manager, operation, fields)
}

const leafOfA = `{f:links: {".": {}, f:a: {".": {}, f:url: {}}}}`
const old = `status: {currentPromotion: {name: test.02}, metadata: {links: {a: {url: "https://old.example.com"}}, provenance: {other: {stage: test, promotion: test.01, entries: {links: [a]}}}}}`

// ownerships say who has entry a of links, and whether it gives way.
var ownerships = map[string]struct {
	stage    string
	config   string
	force    bool
	tookOver []TookOver
	conflict string
}{
	"an update manager gives way": {
		stage: "metadata: {managedFields: [" + managed("kargo", "Update", leafOfA) + "]}\nstatus: {metadata: {links: {a: {url: x}}}}",
		force: true, tookOver: []TookOver{{check.Place{Key: "links", Entry: "a"}, "kargo"}},
	},
	"a manager is told once, however it has the entry": {
		stage: "metadata: {managedFields: [" + managed("kargo", "Update", leafOfA) + ", " + strings.Replace(managed("kargo", "Update", leafOfA), "subresource: status, ", "", 1) + "]}\nstatus: {metadata: {links: {a: {url: x}}}}",
		force: true, tookOver: []TookOver{{check.Place{Key: "links", Entry: "a"}, "kargo"}},
	},
	"an update manager with our name gives way and is not told": {
		stage: "metadata: {managedFields: [" + managed("publish-metadata/publish", "Update", leafOfA) + "]}\nstatus: {metadata: {links: {a: {url: x}}}}",
		force: true,
	},
	"an apply manager with the whole entry does not": {
		stage:    "metadata: {managedFields: [" + managed("flux", "Apply", `{f:links: {f:a: {}}}`) + "]}\nstatus: {metadata: {links: {a: x}}}",
		conflict: "/status/metadata/links/a: owned by the field manager flux",
	},
	"an apply manager with the whole key does not": {
		stage:    "metadata: {managedFields: [" + managed("flux", "Apply", `{f:links: {}}`) + "]}\nstatus: {metadata: {links: x}}",
		conflict: "/status/metadata/links/a: owned by the field manager flux",
	},
	"an apply manager with a leaf below a leaf of ours does not": {
		stage:    "metadata: {managedFields: [" + managed("flux", "Apply", `{f:links: {f:a: {f:x: {f:y: {}}}}}`) + "]}\nstatus: {metadata: {links: {a: {url: u, x: {y: 1}}}}}",
		conflict: "/status/metadata/links/a: owned by the field manager flux",
	},
	"an apply manager with our provenance does not": {
		stage:    "metadata: {managedFields: [" + managed("flux", "Apply", `{f:provenance: {f:publish: {f:stage: {}}}}`) + "]}\nstatus: {metadata: {provenance: {publish: {stage: test}}}}",
		conflict: "/status/metadata/provenance/publish: owned by the field manager flux",
	},
	"a manager who has lost all leaves of an entry is no owner": {
		stage: "metadata: {managedFields: [" + managed("publish-metadata/other", "Apply", `{f:links: {".": {}, f:a: {".": {}}}}`) + ", " +
			managed("publish-metadata/publish", "Apply", leafOfA) + "]}\nstatus: {metadata: {links: {a: {url: x}}, provenance: {other: {stage: test, promotion: test.02, entries: {links: [a]}}}}}",
	},
	"a manager with another entry is no owner": {
		stage: "metadata: {managedFields: [" + managed("flux", "Apply", `{f:links: {".": {}, f:b: {f:url: {}}}, f:tickets: {f:a: {}}}`) + "]}\nstatus: {metadata: {links: {b: {url: x}}}}",
	},
	"a producer that is over gives way": {
		stage: "metadata: {managedFields: [" + managed("publish-metadata/other", "Apply", leafOfA) + "]}\n" + old,
		force: true, tookOver: []TookOver{{check.Place{Key: "links", Entry: "a"}, "other"}},
	},
	"a producer that is over gives way by its provenance alone": {
		stage: old, force: true, tookOver: []TookOver{{check.Place{Key: "links", Entry: "a"}, "other"}},
	},
	"a producer without provenance is live": {
		stage:    "metadata: {managedFields: [" + managed("publish-metadata/other", "Apply", leafOfA) + "]}\nstatus: {currentPromotion: {name: test.02}, metadata: {links: {a: {url: x}}}}",
		conflict: "owned by the producer other",
	},
	"a producer whose provenance names no promotion is live": {
		stage:    "status: {currentPromotion: {name: test.02}, metadata: {links: {a: {url: x}}, provenance: {other: {stage: test, entries: {links: [a]}}}}}",
		conflict: "owned by the producer other",
	},
	"a producer of another Stage is live": {
		stage:    strings.Replace(old, "stage: test", "stage: edge", 1),
		conflict: "owned by the producer other of promotion test.01",
	},
	"a producer is live while another promotion is the current one": {
		stage:    strings.Replace(old, "name: test.02", "name: test.03", 1),
		conflict: "owned by the producer other of promotion test.01",
	},
	"a producer is live while no promotion is the current one": {
		stage:    strings.Replace(old, "currentPromotion: {name: test.02}, ", "", 1),
		conflict: "owned by the producer other of promotion test.01",
	},
	"takeOver makes everybody give way": {
		stage:  "metadata: {managedFields: [" + managed("flux", "Apply", leafOfA) + ", " + managed("publish-metadata/other", "Apply", leafOfA) + "]}\nstatus: {metadata: {links: {a: {url: x}}}}",
		config: strings.Replace(publishLink, "key: links", "key: links, onConflict: takeOver", 1),
		force:  true, tookOver: []TookOver{{check.Place{Key: "links", Entry: "a"}, "flux"}, {check.Place{Key: "links", Entry: "a"}, "other"}},
	},
}

func TestWhoGivesWay(t *testing.T) {
	for name, test := range ownerships {
		t.Run(name, func(t *testing.T) {
			if test.config == "" {
				test.config = publishLink
			}
			stage := stageOf(t, test.stage)
			before := stage.DeepCopy()
			plan, err := Decide(stage, NewPublication(t, test.config), Memory{})
			require.Equal(t, before, stage, "the target was changed")
			if test.conflict != "" {
				require.ErrorIs(t, err, fault.Conflict)
				require.ErrorContains(t, err, test.conflict)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.force || len(stage.GetManagedFields()) == 0, plan.Force)
			require.Equal(t, test.tookOver, plan.TookOver)
		})
	}
}

func TestTheBodyIsTheIdentityAndWhatIsPublished(t *testing.T) {
	plan, err := Decide(stageOf(t, "spec: {a: b}\nstatus: {health: x, metadata: {links: {b: {url: x}}}}"), NewPublication(t, publishLink), Memory{})
	require.NoError(t, err)
	text, err := value.Marshal(plan.body.Object)
	require.NoError(t, err)
	require.JSONEq(t, `{"apiVersion": "kargo.akuity.io/v1alpha1", "kind": "Stage",
		"metadata": {"name": "test", "namespace": "demo", "resourceVersion": "7"},
		"status": {"metadata": {"links": {"a": {"url": "https://a.example.com"}},
			"provenance": {"publish": {"stage": "test", "promotion": "test.02", "step": "publish", "entries": {"links": ["a"]}}}}}}`, string(text))

	plan, err = Decide(stageOf(t, "status: {}"), NewPublication(t, publishNone), Memory{})
	require.NoError(t, err)
	require.NotContains(t, plan.body.Object, "status", "an empty metadata is refused by the API server")
	require.Empty(t, plan.Published())
}

func TestAProvenanceOfJunkIsAsGoodAsNone(t *testing.T) {
	for _, junk := range []string{
		"x", "[x]", "null", "3", "{stage: 3, promotion: [x], step: {a: b}, entries: x}", "{entries: {links: x, tickets: {a: b}, provenance: [publish]}}",
		"{entries: {links: [1, null, {a: b}, [x]]}}",
	} {
		stage := stageOf(t, "status: {metadata: {links: {a: {url: x}}, provenance: {publish: "+junk+", other: "+junk+"}}}")
		plan, err := Decide(stage, NewPublication(t, publishNone), Memory{})
		require.NoError(t, err, junk)
		for _, place := range plan.gone {
			require.Equal(t, check.Place{Key: "provenance", Entry: "publish"}, place, junk)
		}
	}
	_, err := Decide(stageOf(t, "status: {metadata: {provenance: x}}"), NewPublication(t, publishNone), Memory{})
	require.NoError(t, err)
}

func TestTargetsThatCannotBeRead(t *testing.T) {
	for text, message := range map[string]string{
		"status: {metadata: text}":   "status.metadata is not an object",
		"status: {metadata: [text]}": "status.metadata is not an object",
		"metadata: {managedFields: [{manager: a, operation: Apply, fieldsType: FieldsV1, fieldsV1: {x: {}}}]}": "metadata.managedFields cannot be read",
	} {
		_, err := Decide(stageOf(t, text), NewPublication(t, publishLink), Memory{})
		require.ErrorIs(t, err, fault.Invalid, text)
		require.ErrorContains(t, err, "Stage demo/test: "+message)
		require.NotContains(t, err.Error(), "text")
	}
	_, err := Decide(stageOf(t, "status: {metadata: null}"), NewPublication(t, publishLink), Memory{})
	require.NoError(t, err)
	_, err = Decide(stageOf(t, "status: null"), NewPublication(t, publishLink), Memory{})
	require.NoError(t, err)
}

func TestOneProducerPublishesOnceInAPromotion(t *testing.T) {
	tests := map[string]struct {
		provenance string
		conflict   bool
	}{
		"by another step":                    {"{stage: test, promotion: test.02, step: other}", true},
		"by a step without a name":           {"{stage: test, promotion: test.02}", true},
		"by the same step":                   {"{stage: test, promotion: test.02, step: publish}", false},
		"by another step of another one":     {"{stage: test, promotion: test.01, step: other}", false},
		"by another step of another Stage":   {"{stage: edge, promotion: test.02, step: other}", false},
		"by another step outside promotions": {"{stage: test, step: other}", false},
	}
	for name, test := range tests {
		_, err := Decide(stageOf(t, "status: {metadata: {provenance: {publish: "+test.provenance+"}}}"), NewPublication(t, publishLink), Memory{})
		if !test.conflict {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, fault.Conflict, name)
		require.ErrorContains(t, err, "the producer publish has already published in this promotion, by step ")
	}
}

func TestTheSizeOfTheMetadataIsLimited(t *testing.T) {
	large := strings.Repeat("x", MaxMetadata)
	for name, test := range map[string]struct {
		stage, config string
		fits          bool
	}{
		"what is too large is refused": {stage: "status: {metadata: {x: {y: " + large + "}}}", config: publishLink},
		"what is replaced does not count": {
			stage:  "status: {metadata: {links: {a: {url: " + large + "}}}}",
			config: strings.Replace(publishLink, "key: links", "key: links, onConflict: takeOver", 1), fits: true,
		},
		"what is withdrawn does not count": {
			stage:  "status: {metadata: {links: {b: {url: " + large + "}}, provenance: {publish: {stage: test, promotion: test.02, step: publish, entries: {links: [b]}}}}}",
			config: publishLink, fits: true,
		},
		"withdrawing is possible where others have filled it": {
			stage:  "status: {metadata: {x: {y: " + large + "}, links: {a: {url: u}}, provenance: {publish: {entries: {links: [a]}}}}}",
			config: publishNone, fits: true,
		},
		"what is in the place of a key does not count": {stage: "status: {metadata: {links: " + large + "}}", config: publishLink, fits: true},
	} {
		_, err := Decide(stageOf(t, test.stage), NewPublication(t, test.config), Memory{})
		if test.fits {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, fault.TooLarge, name)
		require.Regexp(t, `^Stage demo/test: status.metadata would have 52\d{4} bytes, more than 524288: `, err.Error())
	}
}

func TestKeepRefusesWhatItsSchemaDoes(t *testing.T) {
	const keep = `{metadata: [{key: links, fromExpression: outputs.none, onMissing: keep}]}`
	stage := stageOf(t, `status: {metadata: {links: {a: {url: "javascript:hunter2"}}, provenance: {publish: {entries: {links: [a, gone]}}}}}`)
	_, err := Decide(stage, NewPublication(t, keep), Memory{})
	require.ErrorIs(t, err, fault.Invalid)
	require.ErrorContains(t, err, "Stage demo/test: /status/metadata/links/a/url: ")
	require.NotContains(t, err.Error(), "hunter2")

	stage = stageOf(t, "metadata: {managedFields: ["+managed("flux", "Apply", "{f:links: {f:a: {f:url: {}}}}")+`]}
status: {metadata: {links: {a: {url: "https://a.example.com"}, b: {url: "https://b.example.com"}}, provenance: {publish: {entries: {links: [a, b, c]}}}}}`)
	plan, err := Decide(stage, NewPublication(t, keep), Memory{})
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"links": {"b"}}, plan.Published())
	require.Len(t, plan.Warnings, 2)
	require.Contains(t, plan.Warnings[0], "links.a: not kept")
	require.Contains(t, plan.Warnings[1], "links.c: not kept")
	require.Equal(t, []check.Place{{Key: "links", Entry: "c"}}, plan.gone, "what somebody else applies stays")
}
