package schema

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// mustParse returns the JSON-native tree of a file that comes with the tool.
func mustParse(raw []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		panic(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		panic("text after the JSON value")
	}
	return native(v)
}

// native turns json.Number into int64 where it is one, else float64.
func native(v any) any {
	switch v := v.(type) {
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		decimal, err := v.Float64()
		if err != nil {
			panic(err)
		}
		return tree.Canonical(decimal)
	case []any:
		for i, item := range v {
			v[i] = native(item)
		}
	case map[string]any:
		for key, member := range v {
			v[key] = native(member)
		}
	}
	return v
}
