package expression_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/resolve/expression"
)

const canary = "s3cr3t-canary"

// The canary, and a number that is one, stand in every scalar position.
var canaryEnv = expression.Env{
	Alias:   "ship::links",
	Context: map[string]any{"stage": canary, "meta": map[string]any{"actor": canary}},
	Outputs: map[string]any{
		"a":        map[string]any{"t": canary, "n": int64(73313713), "f": 73313.713, "l": []any{canary, int64(73313713), []any{canary}}, "o": map[string]any{"k": canary}},
		"plain":    canary,
		"ship::in": canary,
		"bad":      "(" + canary,
		"url":      "https://" + canary + ":x@h/%zz",
		"json":     `{"` + canary + `": 1, "` + canary + `": 2}`,
	},
}

// operands are what stands for X in the expressions below.
var operands = []string{
	"outputs.a.t", "outputs.a.n", "outputs.a.f", "outputs.a.l", "outputs.a.o", "outputs.a", "outputs.plain", "ctx.stage",
	"ctx.meta.actor", "task.outputs.in", "outputs.bad", "outputs.url", "outputs.json", "outputs.a.l[0]", "[outputs.a.t]", "{'k': outputs.a.t}",
}

const failing = `X.nope.x
X[X]
X[X].x
X[9999]
X['x'].y
X?.x.y
outputs[X].x
outputs.a[X].x
outputs.a.l[X]
[1][X]
X[1:2]
X[X:]
'abc'[X:X]
X + 1
X + 'a' + 1
1 + X
X - 1
X * 'a'
X / X + nil
X % 2
X % 0
X ** X
-X
+X
not X
X && true
true || X ? X : nil
X ? 1 : 2
X < nil
X < 'a'
X < 1
X in 5
X in nil
5 in X
X contains 1
X contains nil
'a' startsWith X
X matches X
'a' matches X
'a' matches ('(' + X)
X .. 5
1 .. X
map(X, .x.y)
map([X], .x.y)
filter([X], #)
count([X])
sum([X, nil])
groupBy([X], #)
groupBy([X], # + 1)
sortBy([X, nil], #)
sortBy([X, 1, 'a'], #)
sortBy([1], #, X)
reduce(X, #acc)
reduce([X, 'a', 1], #acc + #)
find([X], # == 7)
upper(X)
lower([X])
trim(X, 1)
trim(1, X)
split(X, 1)
split('a', 'a', X)
replace(X, X, 1)
replace('a', 'b', 'c', X)
repeat(X, 99999999)
repeat('a', X)
join(X)
join([X, 1])
indexOf(X, nil)
len(X) + 'a'
first(X)
last(X).x
take(X, 'a')
take([1], X)
get(X, X)
reverse(X)
concat(X, [1])
flatten(X)
uniq(X)
sort(X)
sort([X, nil])
sort([1], X)
keys(X)
values(X)
toPairs(X)
fromPairs(X)
fromPairs([X])
fromPairs([[X, 1], [X, 2]])
fromPairs([[X, 1/0]])
{(X): 1/0}
{'a': {(X): 1/0}}
{(X): {'x': 0/0}}
groupBy([X], #) | toJSON() | fromJSON() | int()
int(X)
float(X)
int(string(X))
float(string(X))
string(X) | fromJSON()
fromJSON(X)
fromJSON('{"a":' + string(X))
fromBase64(X)
fromBase64(toBase64(string(X))[1:])
abs(X)
ceil(X)
max(X)
max(X, 'a')
min([X, nil])
mean(X)
median(X)
toJSON([X, 1/0])
joinURL(X, 'a')
joinURL('https://h', X)
joinURL('https://h/' + string(X) + '?', 'a')
joinURL('https://h/%zz' + string(X), 'a')
escapeQuery(X)
[X, 1/0]
[X, [1/0]]
reduce(1..40, [#acc, #acc], X)
reduce(1..40, [#acc, #acc], X) | toJSON()
reduce(1..99, #acc + #acc, string(X))
let a = X; a.b.c
X.upper()
X |  upper() | int()
if X { 1 } else { 2 }`

func TestNoErrorQuotesTheData(t *testing.T) {
	failed := 0
	for line := range strings.SplitSeq(failing, "\n") {
		for _, operand := range operands {
			source := strings.ReplaceAll(line, "X", operand)
			if _, err := evaluate(t, source, canaryEnv); err != nil {
				failed++
				requireTyped(t, err)
				for _, secret := range []string{canary, strings.ToUpper(canary), "3313", "canary"} {
					assert.NotContains(t, err.Error(), secret, source)
				}
			}
		}
	}
	require.Greater(t, failed, 1200, "the expressions are there to fail")
}

func TestPointersOfTheResultShowOnlyNamesThatAreNotData(t *testing.T) {
	env := expression.Env{Outputs: map[string]any{"a": map[string]any{"t": canary, "known": map[string]any{}}}}
	for source, want := range map[string]string{
		`{"ratio": 1/0}`:                         "/ratio: not a finite number",
		`{(outputs.a.t): {"x": 1/0}}`:            "/*/x: not a finite number",
		`fromPairs([["a" + "/b", [2, 1/0]]])`:    "/*/1: not a finite number",
		`{"a/b": 1/0}`:                           "/a~1b: not a finite number",
		`fromPairs([[keys(outputs.a)[0], 1/0]])`: "/known: not a finite number",
	} {
		_, err := evaluate(t, source, env)
		require.ErrorContains(t, err, ": the result cannot be published: "+want, source)
		require.NotContains(t, err.Error(), canary)
	}
}
