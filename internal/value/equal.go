package value

// Equal says whether two JSON-native trees are the same value: int64 1 equals
// float64 1.0, and a nil list or object equals an empty one. Both have to be
// bounded, as Native leaves them; a value of any other type equals nothing.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	case int64, float64:
		return equalNumbers(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && equalLists(a, b)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalObjects(a, b)
	}
	return false
}

func equalNumbers(a, b any) bool {
	switch a := a.(type) {
	case int64:
		switch b := b.(type) {
		case int64:
			return a == b
		case float64:
			return equalMixed(a, b)
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return equalMixed(b, a)
		case float64:
			return a == b
		}
	}
	return false
}

// equalMixed compares as integers: a float64 cannot tell neighbours above 2^53 apart.
func equalMixed(integer int64, float float64) bool {
	converted, err := fromFloat(float)
	return err == nil && converted == any(integer)
}

func equalLists(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalObjects(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for key, member := range a {
		other, ok := b[key]
		if !ok || !Equal(member, other) {
			return false
		}
	}
	return true
}
