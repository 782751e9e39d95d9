package expression

import (
	"fmt"
	"math"
	"strconv"

	"github.com/expr-lang/expr/builtin"

	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

var numberFunctions = []function{
	define("int(any) number", "The whole number of a number, without its fraction, or of a decimal string.", 1, 1, toInt),
	define("float(any) number", "The number of a number or of a string.", 1, 1, parseFloat),
	define("string(any) string", "The text of a value: `string(12345678)` is `\"12345678\"`. For lists and objects use toJSON.", 1, 1, toString),
	define("type(any) string", "`nil`, `bool`, `int`, `float`, `string`, `array` or `map`.", 1, 1, typeOf),
	define("abs(number) number", "The number without its sign.", 1, 1, abs),
	define("ceil(number) number", "The next whole number above.", 1, 1, rounding(math.Ceil)),
	define("floor(number) number", "The next whole number below.", 1, 1, rounding(math.Floor)),
	define("round(number) number", "The nearest whole number.", 1, 1, rounding(math.Round)),
	define("max(number or list, …) number", "The greatest of the numbers.", 1, -1, aggregate("max")),
	define("min(number or list, …) number", "The least of the numbers.", 1, -1, aggregate("min")),
	define("mean(number or list, …) number", "The average of the numbers.", 1, -1, aggregate("mean")),
	define("median(number or list, …) number", "The number in the middle of the numbers.", 1, -1, aggregate("median")),
}

func toInt(c call, args []any) (any, error) {
	switch v := args[0].(type) {
	case int64:
		return v, nil
	case float64:
		if integer, ok := tree.Canonical(math.Trunc(v)).(int64); ok {
			return integer, nil
		}
		return nil, c.fail(overflow)
	case string:
		if err := c.charge(len(v)); err != nil {
			return nil, err
		}
		integer, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return nil, c.fail("the string is not a whole number of 64 bits (%s)", render(c.site.operands[0]))
		}
		return integer, nil
	}
	return nil, c.wrong(0, "a number or a string", args[0])
}

func parseFloat(c call, args []any) (any, error) {
	switch v := args[0].(type) {
	case int64, float64:
		return toFloat(v), nil
	case string:
		if err := c.charge(len(v)); err != nil {
			return nil, err
		}
		float, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsInf(float, 0) || math.IsNaN(float) {
			return nil, c.fail("the string is not a finite number (%s)", render(c.site.operands[0]))
		}
		return float, nil
	}
	return nil, c.wrong(0, "a number or a string", args[0])
}

// toString writes numbers as JSON does, and lists and objects as expr does.
func toString(c call, args []any) (any, error) {
	size, err := c.measure(args[0])
	if err != nil {
		return nil, err
	}
	switch v := args[0].(type) {
	case nil:
		return nil, c.wrong(0, "a value", nil)
	case string:
		return v, nil
	case float64:
		if text, err := value.Marshal(v); err == nil {
			return string(text), nil
		}
	}
	if err := c.charge(times(2, size)); err != nil {
		return nil, err
	}
	return fmt.Sprint(args[0]), nil
}

func typeOf(_ call, args []any) (any, error) { return builtin.Type(args[0]), nil }

func abs(c call, args []any) (any, error) {
	if integer, ok := args[0].(int64); ok && integer < 0 || wording.Kind(args[0]) != "a number" {
		return negate(c, args)
	}
	return builtin.Abs(args[0]), nil
}

func rounding(f func(float64) float64) implementation {
	return func(c call, args []any) (any, error) {
		switch number := args[0].(type) {
		case int64:
			return number, nil
		case float64:
			return tree.Canonical(f(number)), nil
		}
		return nil, c.wrong(0, "a number", args[0])
	}
}

// aggregate calls expr's function of that name with numbers and lists of numbers.
func aggregate(name string) implementation {
	f := builtin.Builtins[builtin.Index[name]].Func
	return func(c call, args []any) (any, error) {
		for i, arg := range args {
			size, err := c.measure(arg)
			if err == nil && name == "median" {
				err = c.charge(sortCost(size/slot, size))
			}
			if err != nil {
				return nil, err
			}
			if odd, ok := notNumber(arg); ok {
				return nil, c.wrong(i, "numbers and lists of numbers", odd)
			}
		}
		result, err := f(args...)
		if err != nil {
			return nil, c.fail("cannot be applied to these values")
		}
		return result, nil
	}
}

// notNumber returns what is not a number in a measured tree of lists.
func notNumber(v any) (any, bool) {
	list, ok := v.([]any)
	if !ok {
		return v, wording.Kind(v) != "a number"
	}
	for _, item := range list {
		if odd, found := notNumber(item); found {
			return odd, true
		}
	}
	return nil, false
}
