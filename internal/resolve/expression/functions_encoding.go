package expression

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/kargo-steps/publish-metadata/internal/value"
)

var encodingFunctions = []function{
	define("toJSON(any) string", "The compact JSON of a value, members sorted by name.", 1, 1, toJSON),
	define("fromJSON(text) any", "The value of a JSON text. A name that is twice in an object is an error.", 1, 1, fromJSON),
	define("toBase64(text) string", "The text in base64.", 1, 1, toBase64),
	define("fromBase64(text) string", "The text of base64, which has to be UTF-8.", 1, 1, fromBase64),
}

func toJSON(c call, args []any) (any, error) {
	size, err := c.measure(args[0])
	if err == nil {
		// \u0000 is six bytes for one.
		err = c.charge(times(6, size))
	}
	if err != nil {
		return nil, err
	}
	text, err := value.Marshal(args[0])
	if err != nil {
		return nil, c.fail("the value has a number that is not finite")
	}
	return string(text), nil
}

func fromJSON(c call, args []any) (any, error) {
	text, err := c.text(args, 0)
	if err == nil {
		// Two bytes of JSON may be an empty list.
		err = c.charge(times(4*slot, len(text)))
	}
	if err != nil {
		return nil, err
	}
	if !utf8.ValidString(text) {
		return nil, c.fail("the text is not valid UTF-8")
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	result, err := decode(decoder, 0)
	if errors.Is(err, errDeep) {
		return nil, c.fail("the JSON is nested more than %d deep", resultLimits.Depth)
	}
	if err != nil {
		return nil, c.fail("%s", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, c.fail("there is something after the JSON value")
	}
	return result, nil
}

var (
	errSyntax = errors.New("the text is not JSON")
	errDeep   = errors.New("nested too deep")
	errTwice  = errors.New("an object of the JSON has a name twice")
)

// decode reads one value; its errors quote nothing of the text.
func decode(decoder *json.Decoder, depth int) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, errSyntax
	}
	switch token := token.(type) {
	case json.Number:
		number, err := value.Number(string(token))
		if err != nil {
			return nil, errors.New("the JSON has " + err.Error())
		}
		return number, nil
	case json.Delim:
		if depth >= resultLimits.Depth {
			return nil, errDeep
		}
		if token == '[' {
			return decodeList(decoder, depth)
		}
		return decodeObject(decoder, depth)
	}
	return token, nil
}

func decodeList(decoder *json.Decoder, depth int) (any, error) {
	list := []any{}
	for decoder.More() {
		item, err := decode(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errSyntax
	}
	return list, nil
}

func decodeObject(decoder *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, errSyntax
		}
		name := token.(string)
		if _, twice := object[name]; twice {
			return nil, errTwice
		}
		if object[name], err = decode(decoder, depth+1); err != nil {
			return nil, err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errSyntax
	}
	return object, nil
}

func toBase64(c call, args []any) (any, error) {
	text, err := c.text(args, 0)
	if err == nil {
		err = c.charge(times(2, len(text)))
	}
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString([]byte(text)), nil
}

func fromBase64(c call, args []any) (any, error) {
	text, err := c.text(args, 0)
	if err == nil {
		err = c.charge(times(2, len(text)))
	}
	if err != nil {
		return nil, err
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, c.fail("the text is not base64 (%s)", render(c.site.operands[0]))
	}
	if !utf8.Valid(decoded) {
		return nil, c.fail("the decoded text is not valid UTF-8 (%s)", render(c.site.operands[0]))
	}
	return string(decoded), nil
}
