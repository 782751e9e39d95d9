package publish

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/check"
)

func TestWhatStandsThoughItIsNotIntended(t *testing.T) {
	entry := map[string]map[string]any{"links": {"a": map[string]any{"url": "u", "o": map[string]any{"x": int64(1)}}}}
	gone := []check.Place{{Key: "links", Entry: "b"}, {Key: "tickets", Entry: "one"}, {Key: "tickets", Entry: "two"}}
	const same = `a: {url: u, o: {x: 1}}`
	tests := map[string]struct {
		metadata string
		intended map[string]map[string]any
		gone     []check.Place
		holds    bool
		removals []string
	}{
		"all is as intended":                         {"{links: {" + same + "}}", entry, gone, true, nil},
		"a number may come back in another form":     {"{links: {a: {url: u, o: {x: 1.0}}}}", entry, nil, true, nil},
		"another value":                              {"{links: {a: {url: v, o: {x: 1}}}}", entry, nil, false, nil},
		"another type":                               {"{links: {a: {url: u, o: 1}}}", entry, nil, false, nil},
		"a leaf is missing":                          {"{links: {a: {url: u}}}", entry, nil, false, nil},
		"the entry is missing":                       {"{links: {}}", entry, nil, false, nil},
		"everything is missing":                      {"null", entry, nil, false, nil},
		"the key is no map":                          {"{links: x}", entry, nil, false, nil},
		"leaves more":                                {"{links: {a: {url: u, b/c: 1, o: {x: 1, y~: 2}, z: null}}}", entry, nil, false, []string{"/status/metadata/links/a/b~1c", "/status/metadata/links/a/o/y~0", "/status/metadata/links/a/z"}},
		"an entry more, of a key that stays":         {"{links: {" + same + ", b: {}}}", entry, gone, false, []string{"/status/metadata/links/b"}},
		"an entry that became null":                  {"{links: {" + same + ", b: null}}", entry, gone, false, []string{"/status/metadata/links/b"}},
		"the entries of a key that goes":             {"{links: {" + same + "}, tickets: {one: 1, two: 2}}", entry, gone, false, []string{"/status/metadata/tickets"}},
		"one entry of a key that others use":         {"{links: {" + same + "}, tickets: {one: 1, mine: 2}}", entry, gone, false, []string{"/status/metadata/tickets/one"}},
		"an empty key":                               {"{links: {" + same + "}, tickets: {}}", entry, gone, false, []string{"/status/metadata/tickets"}},
		"a null key":                                 {"{links: {" + same + "}, tickets: null}", entry, gone, false, []string{"/status/metadata/tickets"}},
		"an empty key that was never the owner's":    {"{links: {" + same + "}, checks: {}}", entry, gone, true, nil},
		"somebody else's text in the place of a key": {"{links: {" + same + "}, tickets: see the wiki}", entry, gone, true, nil},
		"somebody else's list in the place of a key": {"{tickets: [1]}", nil, gone, true, nil},
		"nothing but what is gone":                   {"{tickets: {one: 1}, links: {b: 2}}", nil, gone, false, []string{"/status/metadata"}},
		"nothing at all":                             {"null", nil, gone, true, nil},
		"an empty metadata":                          {"{}", nil, gone, false, []string{"/status/metadata"}},
		"an empty metadata that was never used":      {"{}", nil, nil, true, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			stage := stageOf(t, "status: {metadata: "+test.metadata+"}")
			plan := Plan{Metadata: test.intended, gone: test.gone}
			require.Equal(t, test.removals, plan.removals(metadataOf(stage)))
			require.Equal(t, test.holds, plan.holds(stage))
			patch := plan.residue(stage)
			if len(test.removals) == 0 {
				require.Nil(t, patch)
				return
			}
			require.Regexp(t, `^\[\{"op":"test","path":"/metadata/resourceVersion","value":"7"\},\{"op":"remove","path":`, string(patch))
		})
	}
}
