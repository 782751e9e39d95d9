package value_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/value"
)

func TestNumber(t *testing.T) {
	cases := map[string]struct {
		literal string
		want    any
	}{
		"zero":                               {"0", int64(0)},
		"minus zero":                         {"-0", int64(0)},
		"minus zero with a fraction":         {"-0.0", int64(0)},
		"zero with an exponent":              {"0e9999", int64(0)},
		"an integer":                         {"12345678", int64(12345678)},
		"an integer with a zero fraction":    {"12345678.0", int64(12345678)},
		"an integer in scientific notation":  {"1.2345678e7", int64(12345678)},
		"a positive exponent with a sign":    {"1E+5", int64(100000)},
		"a negative exponent that cancels":   {"1200e-2", int64(12)},
		"an integer above 2^53 is exact":     {"9007199254740993", int64(9007199254740993)},
		"the largest int64":                  {"9223372036854775807", int64(9223372036854775807)},
		"the smallest int64":                 {"-9223372036854775808", int64(-9223372036854775808)},
		"the smallest int64 with a fraction": {"-9223372036854775808.000", int64(-9223372036854775808)},
		"a fraction":                         {"0.1", 0.1},
		"a fraction with a trailing zero":    {"1.10", 1.1},
		"a negative fraction":                {"-2.5e-3", -0.0025},
		"the smallest float64":               {"5e-324", 5e-324},
		"a version that is a number":         {"1.2", 1.2},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := value.Number(test.literal)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestNumberRefuses(t *testing.T) {
	const outside, inexact, long, syntax = "outside int64", "not exactly representable", "too long", "not a JSON number"
	cases := map[string]struct{ literal, message string }{
		"one above int64":               {"9223372036854775808", outside},
		"one below int64":               {"-9223372036854775809", outside},
		"an exponent above float64":     {"1e400", outside},
		"a hash that looks like one":    {"4E3132", outside},
		"an exponent below float64":     {"1e-400", inexact},
		"a timestamp with microseconds": {"1700000000.1234567891", inexact},
		"a fraction above 2^53":         {"9007199254740993.5", inexact},
		"a fraction of 40 digits":       {"0.1000000000000000055511151231257827021181", inexact},
		"five digits of exponent":       {"4E31322574", long},
		"an exponent of megabytes":      {"1e3000000", long},
		"a fraction exponent too long":  {"1e-30000", long},
		"200 kB of digits":              {strings.Repeat("9", 200_000), long},
		"nothing":                       {"", syntax},
		"a sign alone":                  {"-", syntax},
		"a plus":                        {"+1", syntax},
		"a leading zero":                {"01", syntax},
		"no fraction after the point":   {"1.", syntax},
		"no integer before the point":   {".5", syntax},
		"no exponent after the e":       {"1e", syntax},
		"text after the number":         {"1x", syntax},
		"text after the exponent":       {"1e5x", syntax},
		"hexadecimal":                   {"0x10", syntax},
		"infinity":                      {"Inf", syntax},
		"underscores":                   {"1_000", syntax},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := value.Number(test.literal)
			require.ErrorContains(t, err, test.message)
			assert.Nil(t, got)
			if test.message != syntax {
				require.ErrorContains(t, err, "a version or id has to be a string")
				assert.NotContains(t, err.Error(), test.literal)
			}
		})
	}
}
