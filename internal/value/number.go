package value

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// What Number takes before it does any arithmetic: a literal of 200 kB or an
// exponent of 3000000 costs seconds in arbitrary precision.
const (
	maxLiteral  = 64
	maxExponent = 4 // digits
)

const advice = "; a version or id has to be a string"

var (
	errSyntax   = errors.New("not a JSON number")
	errTooLong  = errors.New("a number that is too long, above 64 characters or 4 digits of exponent" + advice)
	errOutside  = errors.New("an integral number outside int64" + advice)
	errInexact  = errors.New("a number that is not exactly representable" + advice)
	errInfinite = errors.New("not a finite number")
)

// Number returns the int64 or float64 of a JSON number literal. An integral
// number, 1.0, 1e5 and -0 included, is an int64: Kargo reads saved state back as
// float64, so the way it is written must not matter. Any other is a float64,
// whose shortest decimal has to be the literal's value. The error of a literal
// that is too long, outside int64 or not exactly representable says which,
// without the literal.
func Number(literal string) (any, error) {
	number, err := parseDecimal(literal)
	if err != nil {
		return nil, err
	}
	if number.digits == "" {
		return int64(0), nil
	}
	if number.exponent >= 0 {
		return number.integer()
	}
	float, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return nil, errInexact
	}
	shortest, err := parseDecimal(strconv.FormatFloat(float, 'e', -1, 64))
	if err != nil || shortest != number {
		return nil, errInexact
	}
	return float, nil
}

// decimal is digits × 10^exponent; digits has no zero at either end and is ""
// for zero.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

func (d decimal) integer() (any, error) {
	const longest = 19 // digits of an int64
	if len(d.digits)+d.exponent > longest {
		return nil, errOutside
	}
	text := d.digits + strings.Repeat("0", d.exponent)
	if d.negative {
		text = "-" + text
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, errOutside
	}
	return number, nil
}

// parseDecimal reads the grammar of RFC 8259, section 6.
func parseDecimal(literal string) (decimal, error) {
	if len(literal) > maxLiteral {
		return decimal{}, errTooLong
	}
	rest, negative := strings.CutPrefix(literal, "-")
	whole, rest := cutDigits(rest)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return decimal{}, errSyntax
	}
	fraction := ""
	if after, ok := strings.CutPrefix(rest, "."); ok {
		if fraction, rest = cutDigits(after); fraction == "" {
			return decimal{}, errSyntax
		}
	}
	exponent, err := parseExponent(rest)
	if err != nil {
		return decimal{}, err
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return decimal{}, nil
	}
	trimmed := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(trimmed) - len(fraction)
	return decimal{negative: negative, digits: trimmed, exponent: exponent}, nil
}

func parseExponent(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	if text[0] != 'e' && text[0] != 'E' {
		return 0, errSyntax
	}
	sign, text := 1, text[1:]
	if after, ok := strings.CutPrefix(text, "-"); ok {
		sign, text = -1, after
	} else {
		text = strings.TrimPrefix(text, "+")
	}
	digits, rest := cutDigits(text)
	if digits == "" || rest != "" {
		return 0, errSyntax
	}
	if len(digits) > maxExponent {
		return 0, errTooLong
	}
	exponent, err := strconv.Atoi(digits)
	return sign * exponent, err
}

func cutDigits(text string) (digits, rest string) {
	rest = strings.TrimLeft(text, "0123456789")
	return text[:len(text)-len(rest)], rest
}

// fromFloat returns the int64 of an integral float, else the float itself.
func fromFloat(float float64) (any, error) {
	if math.IsNaN(float) || math.IsInf(float, 0) {
		return nil, errInfinite
	}
	number := tree.Canonical(float)
	if number == any(float) && float == math.Trunc(float) {
		return nil, errOutside
	}
	return number, nil
}
