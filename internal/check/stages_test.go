package check_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/check"
	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/resolve"
	"github.com/kargo-steps/publish-metadata/internal/shape"
	"github.com/kargo-steps/publish-metadata/schema"
)

const contextText = "context: {project: demo, stage: test, promotion: test.01, targetFreight: {name: abc}, meta: {step: {alias: \"ship::links\"}}}\n"

// checked runs the stages before publish on a request.
func checked(ctx context.Context, t testing.TB, request string) (check.Publication, error) {
	t.Helper()
	tree, err := document.Parse([]byte(request))
	require.NoError(t, err)
	registry, err := schema.NewRegistry()
	require.NoError(t, err)
	job, err := decode.Decode(registry, tree.(map[string]any))
	if err != nil {
		return check.Publication{}, err
	}
	resolved, err := resolve.Resolve(ctx, job)
	if err != nil {
		return check.Publication{}, err
	}
	shaped, err := shape.Shape(resolved)
	if err != nil {
		return check.Publication{}, err
	}
	return check.Check(shaped)
}

// items makes the request of a list of items, in YAML's flow style.
func items(list string) string { return contextText + "config: {metadata: [" + list + "]}\n" }

var long = strings.Repeat("x", 600)

// refused are requests with their problems.
var refused = map[string]struct {
	request string
	// problems are "pointer: part of the message", in their order.
	problems []string
}{
	"no producer":         {"context: {project: demo, stage: test}\nconfig: {metadata: []}", []string{"/config/producer: missing, and context.meta.step.alias is too"}},
	"an alias with a dot": {"context: {project: demo, stage: test, meta: {step: {alias: a.b}}}\nconfig: {metadata: []}", []string{"/config/producer: the producer (by default the step's alias) has a dot"}},
	"an alias that makes a long field manager": {
		"context: {project: demo, stage: test, meta: {step: {alias: " + long[:112] + "}}}\nconfig: {metadata: []}",
		[]string{"/config/producer: the field manager publish-metadata/<owner> has 129 bytes, more than 128"},
	},
	"a producer that is long with the stage before it": {
		contextText + "config: {producer: " + long[:107] + ", target: {name: prod}, metadata: []}",
		[]string{"/config/producer: the field manager publish-metadata/<owner> has 129 bytes, more than 128"},
	},
	"Freight that is not known": {
		"context: {project: demo, stage: test, meta: {step: {alias: a}}}\nconfig: {target: {kind: Freight}, metadata: []}",
		[]string{"/config/target/name: missing, and context.targetFreight.name is too: name the Freight"},
	},
	"keep without a key":                  {items("{fromStep: {as: a}, onMissing: keep}"), []string{"/config/metadata/0/onMissing: keep needs a key"}},
	"a schema without a key":              {items("{fromStep: {as: a}, schema: {}}"), []string{"/config/metadata/0/schema: a schema needs a key"}},
	"null for a value":                    {items("{key: links, value: null}"), []string{"/config/metadata/0/value: null is not a value"}},
	"provenance":                          {items("{key: provenance, value: {}}"), []string{"/config/metadata/0/key: the key provenance is written by publish-metadata alone"}},
	"a schema for provenance":             {items("{key: provenance, value: {}, schema: {}}"), []string{"/config/metadata/0/key: the key provenance is written", "/config/metadata/0/schema: the key provenance has a schema already"}},
	"another schema for a well-known key": {items("{key: links, value: {}, schema: {}}"), []string{"/config/metadata/0/schema: the key links has a schema already, which a config cannot replace"}},
	"two schemas for one key": {
		items("{key: example.com/x, value: {}, schema: {}}, {key: example.com/x, value: {}, schema: {type: object}}, {key: example.com/x, value: {}, schema: {}}, {key: example.com/x, value: {}}"),
		[]string{"/config/metadata/1/schema: differs from the schema at /config/metadata/0/schema"},
	},
	"a third party's key without a prefix":         {items("{key: window, value: {}, schema: {}}"), []string{"/config/metadata/0/key: "}},
	"a third party's key without a schema":         {items("{key: example.com/x, value: {}}"), []string{"/config/metadata/0/key: the key example.com/x has no schema: add one to the item"}},
	"a misspelt key":                               {items("{key: lniks, value: {}}"), []string{"/config/metadata/0/key: unknown key lniks; did you mean links?"}},
	"a preset":                                     {items("{key: links, fromStep: {as: a, uses: git-open-pr, with: {}}}"), []string{"/config/metadata/0/fromStep/uses: there are no presets", "/config/metadata/0/fromStep/with: there are no presets"}},
	"an expression that is none":                   {items("{key: links, fromExpression: \"outputs.\"}"), []string{"/config/metadata/0/fromExpression: "}},
	"two things at once":                           {items("{key: linkz, value: {}}, {key: links, fromExpression: \"1 +\"}, {key: links, value: null}"), []string{"/config/metadata/0/key", "/config/metadata/1/fromExpression", "/config/metadata/2/value"}},
	"settle that is no duration":                   {contextText + "config: {settle: soon, metadata: []}", []string{"/config/settle: "}},
	"a scalar for entries":                         {items("{key: links, value: x}"), []string{"/config/metadata/0/value: a string where a map of entries is expected"}},
	"a list for a key whose entries have no names": {items("{key: example.com/x, schema: {}, value: [{a: 1}]}"), []string{"/config/metadata/0/value/0: a list, whose elements this key's schema does not name (x-entry-name)"}},
	"a list with other things": {
		items("{key: applications, value: [x, 3, [], null, true, {name: web}]}"),
		[]string{
			"/config/metadata/0/value/0: a string where", "/config/metadata/0/value/1: a number where", "/config/metadata/0/value/2: a list where",
			"/config/metadata/0/value/3: null where", "/config/metadata/0/value/4: a boolean where",
			"/config/metadata/0/value/5: an element of a list is named by its namespace and name",
		},
	},
	"an element named by a number": {items("{key: tickets, value: [{system: jira, key: 3}]}"), []string{"/config/metadata/0/value/0: an element of a list is named by its system and key, which has to be a string here"}},
	"an element named by nothing":  {items("{key: checks, value: [{name: \"\"}]}"), []string{"/config/metadata/0/value/0: an element of a list is named by its name"}},
	"an element with two names":    {items("{key: artifacts, value: [{uri: a}]}"), []string{"/config/metadata/0/value/0: an element of a list is named by its name, or else its digest"}},
	"entries of one name that differ": {
		items("{key: links, value: {a: {url: \"https://a.example.com\"}}}, {key: links, value: {a: {url: \"https://b.example.com\"}}}"),
		[]string{"/config/metadata/1/value/a: the entry a of links differs from the one at /config/metadata/0/value/a"},
	},
	"keep of a key with several items": {
		items("{key: links, value: {}}, {key: links, fromExpression: outputs.x.y, onMissing: keep}"),
		[]string{"/config/metadata/1/onMissing: keep, but links has several items"},
	},
	"names of entries that cannot be": {
		items("{key: example.com/x, schema: {}, value: {\"\": 1, \"a\\nb\": 2, " + long + ": 3, \"a\\u2028b\": 4}}"),
		[]string{"is empty", "has a control character", "is longer than its limit of"},
	},
	"a long string deep inside": {
		items("{key: example.com/x, schema: {}, value: {a: {b: [x, {c: " + strings.Repeat("x", check.MaxString+1) + "}]}}}"),
		[]string{"/config/metadata/0/value/a/b/1/c: a string of 32769 bytes, more than 32768"},
	},
	"a problem of the whole key": {items("{key: example.com/x, schema: {minProperties: 3}, value: {a: 1, b: 2}}"), []string{"/config/metadata/0/value: example.com/x: "}},
	"problems of entries of several items": {
		items("{key: links, value: {a: {}}}, {key: links, value: {a/b: {url: \"ftp://a.example.com\"}}}"),
		[]string{"/config/metadata/0/value/a: links: ", "/config/metadata/1/value/a~1b/url: links: "},
	},
	"what a step offers under keys that cannot be": {
		contextText + "outputs: {a: {metadata: {links: null, provenance: {}, linkz: {}}}}\nconfig: {metadata: [{fromStep: {as: a}}]}",
		[]string{"/config/metadata/0/fromStep/linkz: unknown key linkz; did you mean links?", "/config/metadata/0/fromStep/provenance: the key provenance is written by publish-metadata alone"},
	},
	"a step that does not offer the key": {
		contextText + "outputs: {a: {metadata: {links: {}, tickets: {}}}}\nconfig: {metadata: [{key: ticket, schema: {}, fromStep: {as: a}}, {key: checks, fromStep: {as: a}}]}",
		[]string{"/config/metadata/0/key: "},
	},
	"a step that offers another key": {
		contextText + "outputs: {a: {metadata: {links: {}, tickets: {}}}}\nconfig: {metadata: [{key: checks, fromStep: {as: a}}]}",
		[]string{"/config/metadata/0/fromStep: step a offers no metadata.checks; it offers links, tickets"},
	},
	"a step that is misspelt": {
		contextText + "outputs: {deploy: {}}\nconfig: {metadata: [{key: checks, fromStep: {as: deplyo}}]}",
		[]string{"/config/metadata/0/fromStep: step deplyo has no output; did you mean deploy?; the steps with outputs are deploy"},
	},
	"a step without steps": {items("{key: checks, fromStep: {as: a}}"), []string{"/config/metadata/0/fromStep: step a has no output; the steps with outputs are nothing"}},
}

func TestRequestsThatAreRefused(t *testing.T) {
	for name, test := range refused {
		t.Run(name, func(t *testing.T) {
			_, err := checked(t.Context(), t, test.request)
			require.ErrorIs(t, err, fault.Invalid)
			var failure *fault.Error
			require.ErrorAs(t, err, &failure)
			for i, part := range test.problems {
				require.Greater(t, len(failure.Problems), i, err.Error())
				if strings.HasPrefix(part, "/") {
					require.Contains(t, failure.Problems[i].String(), part)
				} else {
					require.Contains(t, err.Error(), part)
				}
			}
			require.LessOrEqual(t, len(failure.Problems), len(test.problems)+1, err.Error())
		})
	}
}

func TestOneRequestHasALimitOfBytes(t *testing.T) {
	entries := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "e%d: %s, ", i, strings.Repeat("x", 30_000))
		}
		return "{key: example.com/x, schema: {}, value: {" + text.String() + "}}, {key: links, value: {a: {url: \"https://a.example.com\"}}}"
	}
	_, err := checked(t.Context(), t, items(entries(8)))
	require.NoError(t, err)
	_, err = checked(t.Context(), t, items(entries(9)))
	require.ErrorIs(t, err, fault.TooLarge)
	require.ErrorContains(t, err, "/config/metadata/0/value: 270110 bytes of JSON in all, more than 262144; the largest key is example.com/x with 270073: publish less")
}

func TestEntriesHaveALimitOfNumber(t *testing.T) {
	entries := func(n int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "e%d: 1, ", i)
		}
		return items("{key: example.com/x, schema: {}, value: {" + text.String() + "}}")
	}
	_, err := checked(t.Context(), t, entries(check.MaxEntries))
	require.NoError(t, err)
	_, err = checked(t.Context(), t, entries(check.MaxEntries+1))
	require.ErrorContains(t, err, "/config/metadata/0/value: 501 entries of example.com/x, more than 500")
}

func TestResolvingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := checked(ctx, t, items("{key: links, fromExpression: outputs}"))
	require.ErrorIs(t, err, fault.Timeout)
	require.ErrorIs(t, err, context.Canceled)
}

func TestKeptEntriesAreCheckedAgain(t *testing.T) {
	publication, err := checked(t.Context(), t, items("{key: links, fromExpression: outputs.a.b, onMissing: keep}"))
	require.NoError(t, err)
	require.NoError(t, publication.Recheck("links", map[string]any{"a": map[string]any{"url": "https://a.example.com"}}))
	err = publication.Recheck("links", map[string]any{"a": map[string]any{"url": "ftp://hunter2"}})
	require.ErrorIs(t, err, fault.Invalid)
	require.ErrorContains(t, err, "Stage demo/test: /status/metadata/links/a/url: ")
	require.NotContains(t, err.Error(), "hunter2")
}
