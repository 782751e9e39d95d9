package value

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

func (w *walker) list(list []any) (any, bool, error) {
	if list == nil {
		return []any{}, true, nil
	}
	if err := w.enter(len(list)); err != nil {
		return nil, false, err
	}
	var fresh []any
	for i, item := range list {
		converted, changed, err := w.child(step{index: i}, item)
		if err != nil {
			return nil, false, err
		}
		if changed && fresh == nil {
			fresh = slices.Clone(list)
		}
		if changed {
			fresh[i] = converted
		}
	}
	if fresh != nil {
		return fresh, true, nil
	}
	return list, false, nil
}

func (w *walker) object(object map[string]any) (any, bool, error) {
	if object == nil {
		return map[string]any{}, true, nil
	}
	if err := w.enter(len(object)); err != nil {
		return nil, false, err
	}
	var fresh map[string]any
	for _, key := range tree.SortedKeys(object) {
		converted, changed, err := w.member(key, object[key])
		if err != nil {
			return nil, false, err
		}
		if changed && fresh == nil {
			fresh = maps.Clone(object)
		}
		if changed {
			fresh[key] = converted
		}
		if !utf8.ValidString(key) {
			delete(fresh, key)
		}
	}
	if fresh != nil {
		return fresh, true, nil
	}
	return object, false, nil
}

func (w *walker) member(key string, v any) (any, bool, error) {
	if err := w.addBytes(len(key)); err != nil {
		return nil, false, err
	}
	if !utf8.ValidString(key) {
		// At the object: a pointer with such a key would not be UTF-8 either.
		return w.problem("a key that is not valid UTF-8")
	}
	return w.child(step{key: key, index: -1}, v)
}

// reflected converts what is not native; it always is a change.
func (w *walker) reflected(v reflect.Value) (any, bool, error) {
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool(), true, nil
	case reflect.String:
		return w.text(v.String(), true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return v.Int(), true, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if v.Uint() > math.MaxInt64 {
			return w.problem("%s", errOutside)
		}
		return int64(v.Uint()), true, nil
	case reflect.Float32:
		return w.float32(v.Float())
	case reflect.Float64:
		number, _, err := w.float(v.Float())
		return number, true, err
	case reflect.Pointer:
		return w.pointed(v)
	case reflect.Slice, reflect.Array:
		return w.reflectedList(v)
	case reflect.Map:
		return w.reflectedObject(v)
	}
	return w.problem("a Go %s is not JSON; give strings, numbers, bools, lists and objects", v.Kind())
}

// float32 keeps the decimal that a float32 is written as: 0.1, not 0.10000000149011612.
func (w *walker) float32(float float64) (any, bool, error) {
	if shortest, err := strconv.ParseFloat(strconv.FormatFloat(float, 'g', -1, 32), 64); err == nil && float != math.Trunc(float) {
		float = shortest
	}
	number, _, err := w.float(float)
	return number, true, err
}

func (w *walker) pointed(v reflect.Value) (any, bool, error) {
	for hops := 0; v.Kind() == reflect.Pointer; hops++ {
		if v.IsNil() {
			return nil, true, nil
		}
		if hops >= w.limits.Depth {
			return nil, false, w.tooDeep()
		}
		v = v.Elem()
	}
	w.nodes-- // the pointer is not a value of its own
	converted, _, err := w.walk(v.Interface())
	return converted, true, err
}

func (w *walker) reflectedList(v reflect.Value) (any, bool, error) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return w.problem("a Go %s of bytes is not JSON; encode bytes as base64", v.Kind())
	}
	if err := w.enter(v.Len()); err != nil {
		return nil, false, err
	}
	fresh := make([]any, v.Len())
	for i := range fresh {
		converted, _, err := w.child(step{index: i}, v.Index(i).Interface())
		if err != nil {
			return nil, false, err
		}
		fresh[i] = converted
	}
	return fresh, true, nil
}

func (w *walker) reflectedObject(v reflect.Value) (any, bool, error) {
	if err := w.enter(v.Len()); err != nil {
		return nil, false, err
	}
	members := make(map[string]any, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		key := iter.Key()
		if key.Kind() == reflect.Interface {
			key = key.Elem()
		}
		if key.Kind() != reflect.String {
			return w.problem("a non-string map key; make the keys strings")
		}
		if _, twice := members[key.String()]; twice {
			return w.problem("a map key that is there twice, as two Go types")
		}
		members[key.String()] = iter.Value().Interface()
	}
	fresh, _, err := w.object(members)
	return fresh, true, err
}
