package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// typeProblem words a wrong type. A number or boolean where a string belongs is
// mostly Kargo's doing: it turns text from ${{ }} into what it looks like.
func typeProblem(got string, want []string) string {
	expected := make([]string, len(want))
	for i, name := range want {
		expected[i] = article(name)
	}
	text := got + " where " + strings.Join(expected, " or ") + " is expected"
	if slices.Contains(want, "string") && (got == "number" || got == "integer" || got == "boolean") {
		return text + "; drop ${{ }}, or use quote() in it, or string() in an expression"
	}
	return text
}

func article(typeName string) string {
	switch typeName {
	case "null":
		return typeName
	case "array", "object", "integer":
		return "an " + typeName
	default:
		return "a " + typeName
	}
}

// sizeProblem words the limits of a schema.
func sizeProblem(failure jsonschema.ErrorKind) string {
	switch k := failure.(type) {
	case *kind.MinLength:
		if k.Want == 1 {
			return "is empty"
		}
		return fmt.Sprintf("is shorter than %d characters: %d", k.Want, k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("is longer than %d characters: %d", k.Want, k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("has fewer than %d items: %d", k.Want, k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("has more than %d items: %d", k.Want, k.Got)
	case *kind.MinProperties:
		return fmt.Sprintf("has fewer than %d members: %d", k.Want, k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("has more than %d members: %d", k.Want, k.Got)
	case *kind.AdditionalItems:
		return fmt.Sprintf("has %d items too many", k.Count)
	case *kind.UniqueItems:
		return fmt.Sprintf("has equal items: %s", itemNames(k.Duplicates))
	case *kind.Contains:
		return "has no item that matches the schema under contains"
	case *kind.MinContains:
		return fmt.Sprintf("has fewer than %d items that match the schema under contains: %d", k.Want, len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("has more than %d items that match the schema under contains: %d", k.Want, len(k.Got))
	case *kind.Minimum:
		return "is less than " + number(k.Want)
	case *kind.Maximum:
		return "is more than " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "is not more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "is not less than " + number(k.Want)
	case *kind.MultipleOf:
		return "is not a multiple of " + number(k.Want)
	default:
		return "does not match its schema"
	}
}
