package expression

import (
	"math"
	"math/bits"

	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// operation computes with integers, or with floats if one of them is; overflow
// says that the integer result does not fit.
type operation struct {
	integers func(a, b int64) (result any, problem string)
	floats   func(a, b float64) any
}

const (
	overflow = "the result does not fit into 64 bits"
	byZero   = "the divisor is zero"
)

func arithmetic(o operation) implementation {
	return func(c call, args []any) (any, error) {
		for i, arg := range args {
			if wording.Kind(arg) != "a number" {
				return nil, c.wrong(i, "two numbers", arg)
			}
		}
		a, aIsInteger := args[0].(int64)
		b, bIsInteger := args[1].(int64)
		if aIsInteger && bIsInteger {
			result, problem := o.integers(a, b)
			if problem != "" {
				return nil, c.fail("%s", problem)
			}
			return result, nil
		}
		if o.floats == nil {
			return nil, c.fail("takes two whole numbers")
		}
		return o.floats(toFloat(args[0]), toFloat(args[1])), nil
	}
}

func toFloat(number any) float64 {
	if integer, ok := number.(int64); ok {
		return float64(integer)
	}
	return number.(float64)
}

// plus adds numbers or joins strings.
func plus(c call, args []any) (any, error) {
	for i, arg := range args {
		if wording.Kind(arg) != "a number" && wording.Kind(arg) != "a string" {
			if wording.Kind(arg) == "a list" {
				return nil, c.wrong(i, ordered+" (lists: concat)", arg)
			}
			return nil, c.wrong(i, ordered, arg)
		}
	}
	a, aIsText := args[0].(string)
	b, bIsText := args[1].(string)
	switch {
	case aIsText && bIsText:
		if err := c.charge(len(a) + len(b)); err != nil {
			return nil, err
		}
		return a + b, nil
	case aIsText != bIsText:
		return nil, c.fail("takes %s, got %s and %s; make a number a string with string()", ordered, wording.Kind(args[0]), wording.Kind(args[1]))
	}
	return arithmetic(add)(c, args)
}

var add = operation{
	integers: func(a, b int64) (any, string) {
		sum := a + b
		if (sum > a) != (b > 0) && b != 0 {
			return nil, overflow
		}
		return sum, ""
	},
	floats: func(a, b float64) any { return a + b },
}

var subtract = operation{
	integers: func(a, b int64) (any, string) {
		difference := a - b
		if (difference < a) != (b > 0) && b != 0 {
			return nil, overflow
		}
		return difference, ""
	},
	floats: func(a, b float64) any { return a - b },
}

var multiply = operation{
	integers: func(a, b int64) (any, string) {
		high, low := bits.Mul64(magnitude(a), magnitude(b))
		negative := (a < 0) != (b < 0)
		if high != 0 || low > math.MaxInt64 && (!negative || low != 1<<63) {
			return nil, overflow
		}
		return a * b, ""
	},
	floats: func(a, b float64) any { return a * b },
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// divide is always a float, as in expr; by zero it is not finite, which only
// matters where the result is published.
var divide = operation{
	integers: func(a, b int64) (any, string) { return float64(a) / float64(b), "" },
	floats:   func(a, b float64) any { return a / b },
}

var modulo = operation{
	integers: func(a, b int64) (any, string) {
		if b == 0 {
			return nil, byZero
		}
		return a % b, ""
	},
}

var power = operation{
	integers: func(a, b int64) (any, string) { return math.Pow(float64(a), float64(b)), "" },
	floats:   func(a, b float64) any { return math.Pow(a, b) },
}

func negate(c call, args []any) (any, error) {
	switch number := args[0].(type) {
	case int64:
		if number == math.MinInt64 {
			return nil, c.fail(overflow)
		}
		return -number, nil
	case float64:
		return -number, nil
	}
	return nil, c.wrong(0, "a number", args[0])
}

func positive(c call, args []any) (any, error) {
	if wording.Kind(args[0]) != "a number" {
		return nil, c.wrong(0, "a number", args[0])
	}
	return args[0], nil
}
