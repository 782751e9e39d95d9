package document

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kargo-steps/publish-metadata/internal/value"
)

// maxMarks bounds a YAML document before it is parsed: the parser takes up to 700
// bytes for each line, comma, bracket, dash or comment, and cannot be stopped.
const maxMarks = 200_000

// parseYAML returns the root node of the only document in data.
func parseYAML(data []byte) (root *yaml.Node, err error) {
	if marks := countMarks(data); marks > maxMarks {
		return nil, tooLarge("%d lines, commas, brackets, dashes and comments, more than the limit of %d for YAML; send less, or JSON", marks, maxMarks)
	}
	data = readable(data)
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	switch err := decode(decoder, &document); {
	case errors.Is(err, io.EOF):
		return nil, invalid("empty; give one JSON or YAML document")
	case err != nil:
		return nil, syntaxError(data, err)
	}
	switch err := decode(decoder, &second); {
	case err == nil:
		return nil, invalid("%s: a second YAML document; give one", position{second.Line, second.Column})
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(data, err)
	}
	root = document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Value == "" && root.Style == 0 {
		return nil, invalid("empty; give one JSON or YAML document")
	}
	return root, nil
}

// readable makes a comment of the directive %YAML 1.2, which the library refuses.
func readable(data []byte) []byte {
	if !bytes.HasPrefix(data, []byte("%YAML 1.2")) {
		return data
	}
	return append([]byte("#"), data[1:]...)
}

var errPanic = errors.New("yaml: the parser panicked")

// decode turns a panic of the library into an error: its input is not trusted.
func decode(decoder *yaml.Decoder, node *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	return decoder.Decode(node)
}

// countMarks is above a third of the nodes and comments that data can have.
func countMarks(data []byte) int {
	marks := 0
	for i, char := range data {
		switch char {
		case ',', '[', '{', '\n', '\r':
			marks++
		case '#':
			if i == 0 || strings.IndexByte(" \t\n", data[i-1]) >= 0 {
				marks++
			}
		case '-', '?':
			if i+1 < len(data) && (data[i+1] == ' ' || data[i+1] == '\t') {
				marks++
			}
		}
	}
	return marks
}

// syntaxMessages are our words for the library's, matched by a part of its text.
var syntaxMessages = []struct{ theirs, ours string }{
	{"unknown anchor", "aliases are not supported; repeat the value"},
	{"mapping values are not allowed", "a colon where no key can be; check the indentation, or quote the text"},
	{"mapping keys are not allowed", "a key where none can be; check the indentation"},
	{"block sequence entries are not allowed", "a list item where none can be; check the indentation"},
	{"did not find expected key", "expected a key; check the indentation"},
	{"did not find expected '-' indicator", "expected a list item; check the indentation"},
	{"did not find expected ',' or", "expected a comma or the closing bracket"},
	{"did not find expected node content", "expected a value"},
	{"did not find expected <document start>", "more text after the document; give one"},
	{"could not find expected ':'", "expected a colon after the key"},
	{"tab character", "a tab where spaces have to be"},
	{"cannot start any token", "a character that no value can start with, such as a tab; quote the text"},
	{"unexpected end of stream", "the document ends inside a quoted text"},
	{"unexpected document indicator", "a document separator inside a quoted text"},
	{"unknown escape character", "not an escape sequence of YAML"},
	{"control characters are not allowed", "a control character; escape it in double quotes"},
	{"tag", "a malformed tag; tags are not supported"},
	{"directive", "a malformed directive"},
	{"incompatible YAML document", "a YAML version that is not supported"},
}

func syntaxError(data []byte, cause error) error {
	text, message := cause.Error(), "not well-formed YAML"
	for _, known := range syntaxMessages {
		if strings.Contains(text, known.theirs) {
			message = known.ours
			break
		}
	}
	ahead := lookahead
	if strings.Contains(text, "control characters") {
		ahead = 1 // it is refused as it is read
	}
	if strings.Contains(text, "exceeded max depth") {
		return tooLarge("%s: nested deeper than the limit of %d levels; make it flatter", whereItStops(data, ahead), value.DefaultLimits.Depth)
	}
	return malformed(whereItStops(data, ahead), "%s", message)
}

// lookahead is how many characters the parser reads at the start of a token.
const lookahead = 4

// whereItStops returns where the parser gave up, or the end of the text before a
// space there. The library's errors tell no column, and often the line of something else.
func whereItStops(data []byte, ahead int) position {
	reader := &byteReader{data: data}
	decoder := yaml.NewDecoder(reader)
	for range 2 {
		if decode(decoder, new(yaml.Node)) != nil {
			break
		}
	}
	offset := max(reader.offset-ahead, 0)
	for offset > 0 && (offset >= len(data) || strings.IndexByte(" \r\n", data[offset]) >= 0) {
		offset--
	}
	return positionOf(data, offset)
}

// byteReader gives a byte a time, so that the parser reads no further than it
// looks, and after the data enough line breaks to look at.
type byteReader struct {
	data   []byte
	offset int
}

func (r *byteReader) Read(buffer []byte) (int, error) {
	switch {
	case r.offset < len(r.data):
		buffer[0] = r.data[r.offset]
	case r.offset < len(r.data)+lookahead:
		buffer[0] = '\n'
	default:
		return 0, io.EOF
	}
	r.offset++
	return 1, nil
}
