package value_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/contained"
	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/schema"
)

type (
	name string
	flag bool
	loop *loop
)

func TestNativeConverts(t *testing.T) {
	text, number := "a", 3
	pointer := &number
	cases := map[string]struct{ in, want any }{
		"nil":                            {nil, nil},
		"an int":                         {int(-1), int64(-1)},
		"an int8":                        {int8(-8), int64(-8)},
		"a uint64 that fits":             {uint64(math.MaxInt64), int64(math.MaxInt64)},
		"a duration, an int64 by name":   {time.Second, int64(time.Second)},
		"an integral float64":            {float64(1e18), int64(1e18)},
		"a float64":                      {0.5, 0.5},
		"a minus zero":                   {math.Copysign(0, -1), int64(0)},
		"a float32 as it is written":     {float32(0.1), 0.1},
		"an integral float32":            {float32(16777216), int64(16777216)},
		"a json.Number":                  {json.Number("1.2345678e7"), int64(12345678)},
		"a named string":                 {name("n"), "n"},
		"a named bool":                   {flag(true), true},
		"strings":                        {[]string{"a", "b"}, []any{"a", "b"}},
		"an array":                       {[2]int{1, 2}, []any{int64(1), int64(2)}},
		"a map of strings":               {map[string]string{"a": "b"}, map[string]any{"a": "b"}},
		"a map with any keys":            {map[any]any{"a": 1, name("b"): 2}, map[string]any{"a": int64(1), "b": int64(2)}},
		"a map with named keys":          {map[name][]int{"a": {1}}, map[string]any{"a": []any{int64(1)}}},
		"pointers":                       {[]any{&text, &pointer, (*string)(nil)}, []any{"a", int64(3), nil}},
		"nil slices and maps":            {[]any{[]any(nil), []string(nil), map[string]any(nil), map[name]int(nil)}, []any{[]any{}, []any{}, map[string]any{}, map[string]any{}}},
		"Go numbers deep in native data": {map[string]any{"a": []any{"x", map[string]any{"n": 7}}}, map[string]any{"a": []any{"x", map[string]any{"n": int64(7)}}}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, problems := value.Native(test.in, "", value.Limits{})
			require.Empty(t, problems)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestNativeCopiesOnlyWhatChanges(t *testing.T) {
	kept := map[string]any{"list": []any{int64(1), 0.5, "a", nil, true}}
	same, problems := value.Native(kept, "", value.DefaultLimits)
	require.Empty(t, problems)
	same.(map[string]any)["mark"] = true
	assert.Contains(t, kept, "mark", "a native tree is returned as it is")

	in := map[string]any{"kept": kept, "changed": []any{1}}
	out, problems := value.Native(in, "", value.DefaultLimits)
	require.Empty(t, problems)
	assert.Equal(t, []any{1}, in["changed"], "the input is never changed")
	assert.Equal(t, []any{int64(1)}, out.(map[string]any)["changed"])
	out.(map[string]any)["kept"].(map[string]any)["shared"] = true
	assert.Contains(t, kept, "shared", "a native subtree is not copied")
}

func TestNativeReportsEveryProblem(t *testing.T) {
	in := map[string]any{
		"big":    uint64(math.MaxInt64) + 1,
		"bytes":  []byte("canary"),
		"chan":   make(chan int),
		"func":   func() {},
		"groups": map[any]any{7: "canary"},
		"huge":   1e300,
		"inf":    []any{math.Inf(1), math.NaN(), float32(math.Inf(-1))},
		"keys":   map[string]any{"canary\xff": 1, "ok": 2},
		"number": json.Number("9223372036854775808"),
		"word":   json.Number("canary"),
		"struct": struct{ Secret string }{"canary"},
		"text":   "canary\xff",
		"time":   time.Time{},
		"twice":  map[any]any{"canary": 1, name("canary"): 2},
		"a/b~c":  []any{int64(1), complex(1, 1)},
	}
	tree, problems := value.Native(in, "/outputs", value.DefaultLimits)
	outside := "an integral number outside int64; a version or id has to be a string"
	goKind := func(kind string) string {
		return "a Go " + kind + " is not JSON; give strings, numbers, bools, lists and objects"
	}
	want := map[string]string{
		"/outputs/big":       outside,
		"/outputs/huge":      outside,
		"/outputs/number":    outside,
		"/outputs/word":      "not a JSON number",
		"/outputs/bytes":     "a Go slice of bytes is not JSON; encode bytes as base64",
		"/outputs/chan":      goKind("chan"),
		"/outputs/func":      goKind("func"),
		"/outputs/struct":    goKind("struct"),
		"/outputs/time":      goKind("struct"),
		"/outputs/a~1b~0c/1": goKind("complex128"),
		"/outputs/groups":    "a non-string map key; make the keys strings",
		"/outputs/twice":     "a map key that is there twice, as two Go types",
		"/outputs/inf/0":     "not a finite number",
		"/outputs/inf/1":     "not a finite number",
		"/outputs/inf/2":     "not a finite number",
		"/outputs/keys":      "a key that is not valid UTF-8",
		"/outputs/text":      "not valid UTF-8; encode bytes as base64",
	}
	got := map[string]string{}
	for _, problem := range problems {
		got[problem.Pointer] = problem.Message
	}
	assert.Equal(t, want, got)
	assert.Len(t, problems, len(want))
	assert.NotContains(t, problems.Error(), "canary")
	object := tree.(map[string]any)
	assert.Nil(t, object["time"])
	assert.Equal(t, map[string]any{"ok": int64(2)}, object["keys"])
	again, problems := value.Native(tree, "", value.DefaultLimits)
	assert.Empty(t, problems, "what is returned is native")
	assert.Equal(t, tree, again)
}

func TestNativeBoundsTheTree(t *testing.T) {
	doubled := any([]any{int64(1)})
	for range 40 {
		doubled = []any{doubled, doubled}
	}
	cyclicList := []any{1, 2}
	cyclicList[0], cyclicList[1] = cyclicList, cyclicList
	cyclicMap := map[string]any{}
	cyclicMap["self"] = cyclicMap
	typed := map[name][]any{}
	typed["self"] = []any{typed, typed}
	var pointer loop
	pointer = &pointer
	wide := make([]struct{}, 1<<40)
	long := strings.Repeat("a", 1<<20)
	cases := map[string]struct {
		in    any
		limit string
	}{
		"a graph of 41 lists that is a tree of 2^40": {doubled, "limit of 200000 nodes"},
		"a list in itself, twice":                    {cyclicList, "limit of depth 64"},
		"an object in itself":                        {cyclicMap, "limit of depth 64"},
		"a Go map in itself":                         {typed, "limit of depth 64"},
		"a pointer to itself":                        {pointer, "limit of depth 64"},
		"a slice of a trillion nothings":             {wide, "limit of 200000 nodes"},
		"one string shared 11 times":                 {[]any{long, long, long, long, long, long, long, long, long, long, long}, "limit of 10485760 bytes"},
		"a key above the limit":                      {map[string]int{strings.Repeat("a", 11<<20): 1}, "limit of 10485760 bytes"},
		"a literal above the limit":                  {json.Number(strings.Repeat("1", 11<<20)), "limit of 10485760 bytes"},
		"a Go map too large":                         {largeMap(), "limit of 200000 nodes"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			tree, problems := value.Native(test.in, "/outputs", value.DefaultLimits)
			assert.Less(t, time.Since(start), contained.Deadline)
			assert.Nil(t, tree)
			require.Len(t, problems, 1)
			assert.Equal(t, "/outputs", problems[0].Pointer)
			assert.Contains(t, problems[0].Message, test.limit)
		})
	}
}

func largeMap() map[int]int {
	large := map[int]int{}
	for i := range 200_000 {
		large[i] = i
	}
	return large
}

func TestNativeTakesWhatIsJustWithinTheLimits(t *testing.T) {
	in := []any{[]any{"ab"}, map[string]any{"c": nil}}
	_, problems := value.Native(in, "", value.Limits{Nodes: 5, Bytes: 3, Depth: 2})
	assert.Empty(t, problems)
	for _, limits := range []value.Limits{{Nodes: 4}, {Bytes: 2}, {Depth: 1}} {
		_, problems := value.Native(in, "", limits)
		assert.Len(t, problems, 1)
	}
}

func TestNativeBoundsItsReport(t *testing.T) {
	inner := make([]any, 2*schema.MaxProblems*20)
	for i := range inner {
		inner[i] = math.NaN()
	}
	long := strings.Repeat("k", 1<<20)
	_, problems := value.Native(map[string]any{"short": map[string]any{long: inner}}, "", value.DefaultLimits)
	assert.Len(t, problems, 20*schema.MaxProblems+1)
	assert.Equal(t, "/short", problems[0].Pointer, "the pointer of the nearest ancestor with a short one")
	assert.Equal(t, "and 1000 more problems", problems[len(problems)-1].Message)
}
