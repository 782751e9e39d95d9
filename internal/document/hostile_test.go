package document_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/contained"
	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
)

func numbered(format string, count int) string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, format, i)
	}
	return text.String()
}

func staircase(steps int) string {
	var text strings.Builder
	for i := range steps {
		text.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return text.String()
}

func TestHostileDocumentsAreRefusedQuickly(t *testing.T) {
	aliases := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for next := 'b'; next < 'h'; next++ {
		aliases += fmt.Sprintf("%c: &%c [%s]\n", next, next, strings.Repeat(fmt.Sprintf("*%c,", next-1), 9))
	}
	cases := map[string]struct {
		in   string
		kind fault.Kind
		want string
	}{
		"10 MiB":                          {strings.Repeat(" ", 10<<20), fault.TooLarge, "10485760 bytes, more than the limit of 4194304"},
		"JSON lists of depth 100 000":     {strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), fault.TooLarge, "line 1, column 65: nested deeper than the limit of 64"},
		"JSON objects of depth 100 000":   {strings.Repeat(`{"a":`, 100_000), fault.TooLarge, "limit of 64"},
		"2 MB of brackets":                {strings.Repeat("[", 2<<20), fault.TooLarge, "limit of 64"},
		"YAML flow lists":                 {"a: " + strings.Repeat("[", 100_000), fault.TooLarge, "limit of 64"},
		"YAML flow objects":               {strings.Repeat("{a: ", 100_000), fault.TooLarge, "limit of 64"},
		"YAML flow lists, 1000 deep":      {"a: " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000), fault.TooLarge, "line 1, column 67: nested deeper than the limit of 64"},
		"YAML of 1000 indentations":       {staircase(1000), fault.TooLarge, "line 65, column 65: nested deeper than the limit of 64"},
		"2 MB of question marks":          {strings.Repeat("? ", 1<<20), fault.TooLarge, "limit of 200000 for YAML"},
		"2 MB of dashes":                  {strings.Repeat("- ", 1<<20), fault.TooLarge, "limit of 200000 for YAML"},
		"100 000 dashes":                  {strings.Repeat("- ", 100_000), fault.TooLarge, "limit of 64"},
		"100 000 question marks":          {strings.Repeat("? ", 100_000), fault.TooLarge, "limit of 64"},
		"4 MB of empty lines in a text":   {"a: \"" + strings.Repeat("\n", 4_000_000) + "\"", fault.TooLarge, "limit of 200000 for YAML"},
		"4 MB of empty comments":          {strings.Repeat("#\n", 2_000_000), fault.TooLarge, "limit of 200000 for YAML"},
		"39 000 comments and items":       {strings.Repeat("- a #\n#\n", 39_000) + "- &a b\n", fault.Invalid, "/39000: line 78001, column 3: anchors"},
		"20 000 anchors":                  {numbered("- &a%d x\n", 20_000), fault.Invalid, "anchors are not supported"},
		"an alias bomb":                   {aliases, fault.Invalid, "aliases are not supported"},
		"1 MB of exclamation marks":       {strings.Repeat("!", 1<<20), fault.Invalid, "line 1, column 1: a tag"},
		"30 000 tags":                     {strings.Repeat("- !a b\n", 30_000), fault.Invalid, "a tag that does not fit"},
		"200 000 digits in JSON":          {"[" + strings.Repeat("9", 200_000) + "]", fault.Invalid, "/0: line 1, column 2: a number that is too long"},
		"200 000 digits in YAML":          {"a: " + strings.Repeat("9", 200_000), fault.Invalid, "/a: line 1, column 4: a number that is too long"},
		"two million JSON values":         {"[" + strings.Repeat("1,", 2_000_000) + "1]", fault.TooLarge, "line 1, column 400000: more than the limit of 200000 values"},
		"a million empty JSON lists":      {"[" + strings.Repeat("[],", 1_000_000) + "1]", fault.TooLarge, "more than the limit of 200000 values"},
		"JSON keys given 190 000 times":   {"{" + strings.Repeat(`"a":1,`, 190_000) + `"a":1}`, fault.Invalid, "and 189950 more problems"},
		"300 000 YAML values":             {"[a: b," + strings.Repeat("a: b,", 100_000) + "]", fault.TooLarge, "more than the limit of 200000 values"},
		"YAML keys given 90 000 times":    {strings.Repeat("a: 1\n", 90_000), fault.Invalid, "and 89949 more problems"},
		"a line of 4 MB that is no key":   {strings.Repeat("a", 4_000_000) + ": b", fault.Invalid, "a colon where no key can be"},
		"4 MB of a text without an end":   {`["` + strings.Repeat(`\n`, 2_000_000), fault.Invalid, "line 1, column 2: a string without an end"},
		"100 000 quoted texts in a row":   {strings.Repeat(`"a":1 `, 100_000), fault.Invalid, "line 1, column"},
		"a comma list that is not closed": {"{a, " + strings.Repeat("a: b, ", 90_000), fault.Invalid, "line 1, column 2"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			tree, err := document.Parse([]byte(test.in))
			assert.Less(t, time.Since(start), contained.Deadline)
			runtime.ReadMemStats(&after)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200<<20))
			assert.Nil(t, tree)
			require.ErrorIs(t, err, test.kind)
			assert.Contains(t, err.Error(), test.want)
			assert.Less(t, len(err.Error()), 10_000)
		})
	}
}

func TestParseTakesWhatIsJustWithinTheLimits(t *testing.T) {
	for name, in := range map[string]string{
		"64 levels of JSON":   strings.Repeat("[", 64) + strings.Repeat("]", 64),
		"64 levels of YAML":   staircase(64),
		"200 000 JSON values": "[" + strings.Repeat("1,", 199_998) + "1]",
		"100 000 YAML lines":  strings.Repeat("- a\n", 99_999),
		"4 MiB of text":       `"` + strings.Repeat("a", document.MaxBytes-2) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := document.Parse([]byte(in))
			require.NoError(t, err)
		})
	}
}
