package document

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/value"
)

// The scalars of the YAML 1.2 core schema (section 10.3.2).
var (
	yamlBase     = regexp.MustCompile(`^0(o[0-7]+|x[0-9a-fA-F]+)$`)
	yamlDecimal  = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)
	yamlInfinite = regexp.MustCompile(`^([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))$`)
	yamlOctal    = regexp.MustCompile(`^[-+]?0[0-9]`)
)

var yamlWords = map[string]any{
	"": nil, "~": nil, "null": nil, "Null": nil, "NULL": nil,
	"true": true, "True": true, "TRUE": true,
	"false": false, "False": false, "FALSE": false,
}

var (
	errAmbiguous = errors.New("a number with leading zeros is ambiguous; quote it")
	errInfinite  = errors.New("not a finite number; quote it if it is text")
	errOutside   = errors.New("an integral number outside int64; a version or id has to be a string")
)

// resolvePlain returns what a scalar without quotes or tag is.
func resolvePlain(text string) (any, error) {
	if meaning, ok := yamlWords[text]; ok {
		return meaning, nil
	}
	switch {
	case strings.IndexByte("+-.0123456789", text[0]) < 0:
		return text, nil
	case yamlInfinite.MatchString(text):
		return nil, errInfinite
	case yamlBase.MatchString(text):
		return resolveBase(text)
	case yamlDecimal.MatchString(text):
		return resolveDecimal(text)
	}
	return text, nil
}

func resolveBase(text string) (any, error) {
	base := 8
	if text[1] == 'x' {
		base = 16
	}
	number, err := strconv.ParseInt(text[2:], base, 64)
	if err != nil {
		return nil, errOutside
	}
	return number, nil
}

// resolveDecimal rewrites the literal as JSON has it: .5 is 0.5, +5. is 5.
func resolveDecimal(text string) (any, error) {
	if yamlOctal.MatchString(text) {
		return nil, errAmbiguous
	}
	text = strings.TrimPrefix(text, "+")
	mantissa, exponent := text, ""
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		mantissa, exponent = text[:at], text[at:]
	}
	mantissa = strings.TrimSuffix(mantissa, ".")
	digits, negative := strings.CutPrefix(mantissa, "-")
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	if negative {
		digits = "-" + digits
	}
	return value.Number(digits + exponent)
}
