package check_test

import (
	"context"
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
	job, err := decode.Decode(ctx, registry, tree.(map[string]any))
	if err != nil {
		return check.Publication{}, err
	}
	resolved, err := resolve.Resolve(ctx, job)
	if err != nil {
		return check.Publication{}, err
	}
	return check.Check(ctx, shape.Shape(resolved))
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
	"an alias with a line break":           {"context: {project: demo, stage: test, meta: {step: {alias: \"a\\n b\"}}}\nconfig: {metadata: []}", []string{"/context/meta/step/alias: has to be one line"}},
	"an alias with an invisible character": {"context: {project: demo, stage: test, meta: {step: {alias: \"a\\u200bb\"}}}\nconfig: {metadata: []}", []string{"/config/producer: the producer (by default the step's alias) has to be letters, digits, and _ : - between them: set producer"}},
	"an alias with a space":                {"context: {project: demo, stage: test, meta: {step: {alias: a b}}}\nconfig: {metadata: []}", []string{"/config/producer: the producer (by default the step's alias) has to be letters"}},
	"no producer":                          {"context: {project: demo, stage: test}\nconfig: {metadata: []}", []string{"/config/producer: missing, and context.meta.step.alias is too"}},
	"an alias with a dot":                  {"context: {project: demo, stage: test, meta: {step: {alias: a.b}}}\nconfig: {metadata: []}", []string{"/config/producer: the producer (by default the step's alias) has a dot"}},
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
		items("{key: example.com/x, schema: {}, value: {\"\": 1, \"a\\nb\": 2, " + long + ": 3, \"a\\u2028b\": 4, \"a\\u202eb\": 5}}"),
		[]string{"is empty", "has a control character", "\u2028b: the name of an entry", "\u202eb: the name of an entry", "is longer than its limit of"},
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
	"fields of a name that have a slash": {
		items("{key: applications, value: [{namespace: a/b, name: c}, {namespace: a, name: b}]}, {key: environments, value: [{name: a/b, url: \"https://a.example.com\"}]}"),
		[]string{"/config/metadata/0/value/0: the namespace has a /, which parts the fields of the entry's name: use a map of entries"},
	},
	"a list's element without a name, and with unknown fields": {
		items("{key: links, value: [{titel: Logs, tooltipp: x, url: \"javascript:1\"}]}"),
		[]string{
			"/config/metadata/0/value/0: an element of a list is named by its label",
			"/config/metadata/0/value/0/titel: links: unknown field titel", "/config/metadata/0/value/0/tooltipp: links: unknown field tooltipp; did you mean tooltip?",
			"/config/metadata/0/value/0/url: links: ",
		},
	},
	"things wrong for all stages": {
		items("{key: linkz, value: {}}, {key: links, value: {a: {url: \"javascript:1\"}}}, {key: links, fromExpression: outputs.nope.x}, {key: checks, value: x}, {key: tickets, value: {a: {key: 1}}}"),
		[]string{
			"/config/metadata/0/key: unknown key linkz", "/config/metadata/1/value/a/url: links: ", "/config/metadata/2/fromExpression: ",
			"/config/metadata/3/value: a string where a map", "/config/metadata/4/value/a: tickets: missing field system", "/config/metadata/4/value/a/key: tickets: number where a string",
		},
	},
	"a key as a whole is not judged without an item of it": {
		items("{key: example.com/x, schema: {required: [b], additionalProperties: {type: object}}, value: {a: 1}}, {key: example.com/x, fromExpression: outputs.nope.x}"),
		[]string{"/config/metadata/0/value/a: example.com/x: number where an object is expected", "/config/metadata/1/fromExpression: "},
	},
	"an empty entry that the schema requires": {
		items("{key: example.com/x, schema: {required: [e]}, value: {e: {}, f: {a: 1}}}"),
		[]string{"/config/metadata/0/value: example.com/x: missing field e"},
	},
	"nothing but null entries": {
		items("{key: links, fromExpression: \"{'e': ctx.opne, 'f': nil}\"}"),
		[]string{"/config/metadata/0/fromExpression: all entries of links are null: e, f (set onMissing to publish the rest without it)"},
	},
	"nothing but null entries, as a literal": {items("{key: links, value: {e: null}}"), []string{"/config/metadata/0/value: all entries of links are null: e"}},
	"a step that offers nothing but null": {
		contextText + "outputs: {a: {metadata: {links: null}}}\nconfig: {metadata: [{fromStep: {as: a}}]}",
		[]string{"/config/metadata/0/fromStep: the step's output.metadata has nothing but null: links"},
	},
	"a step that is misspelt": {
		contextText + "outputs: {deploy: {}}\nconfig: {metadata: [{key: checks, fromStep: {as: deplyo}}]}",
		[]string{"/config/metadata/0/fromStep: step deplyo has no output; did you mean deploy? The steps with outputs are deploy"},
	},
	"a step without steps": {items("{key: checks, fromStep: {as: a}}"), []string{"/config/metadata/0/fromStep: step a has no output, and neither has any other step"}},
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
