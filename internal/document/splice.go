package document

import (
	"bytes"
	"errors"

	"go.yaml.in/yaml/v3"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// splice replaces the lines from start up to end, counted from 0.
type splice struct {
	start, end int
	text       string
}

// splicer finds the smallest members that differ and writes them anew.
type splicer struct {
	lines   [][]byte // each with its line break
	layout  layout
	splices []splice
	failed  bool
}

func replaceYAML(data []byte, before, after any) ([]byte, error) {
	root, err := parseYAML(data)
	if err != nil {
		return nil, err
	}
	s := &splicer{lines: bytes.SplitAfter(data, []byte("\n")), layout: layoutOf(root)}
	old, isObject := before.(map[string]any)
	fresh, staysObject := after.(map[string]any)
	if !isObject || !staysObject || root.Style&yaml.FlowStyle != 0 || len(fresh) == 0 {
		return s.layout.document(after)
	}
	s.object(root, old, fresh, len(s.lines))
	replaced := s.join()
	// What the lines mean is for the parser to say: block scalars, for one, may
	// own the blank lines and comments after them.
	reread, err := ParseYAML(replaced)
	if errors.Is(err, fault.TooLarge) {
		return nil, err
	}
	if s.failed || err != nil || !tree.Equal(reread, after) {
		return nil, invalid("its layout cannot be edited in place; write the objects around the change in plain block style")
	}
	return replaced, nil
}

// object compares a block-style object, whose lines end before end. Both old and
// fresh have members.
func (s *splicer) object(node *yaml.Node, old, fresh map[string]any, end int) {
	last := end
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		next := end
		if i+2 < len(node.Content) {
			next = node.Content[i+2].Line - 1
		}
		next = s.trim(next, key.Line, key.Column-1)
		last = next
		member, stays := fresh[key.Value]
		if !stays {
			s.replace(key, next, "")
			continue
		}
		s.member(node.Content[i:i+2], old[key.Value], member, next)
	}
	indent := node.Content[0].Column - 1
	text := ""
	for _, key := range tree.SortedKeys(fresh) {
		if _, exists := old[key]; !exists {
			text += s.write(key, fresh[key], "", indent)
		}
	}
	if text != "" {
		s.splices = append(s.splices, splice{start: last, end: last, text: text})
	}
}

// member compares one member, whose lines end before end.
func (s *splicer) member(pair []*yaml.Node, old, fresh any, end int) {
	if tree.Equal(old, fresh) {
		return
	}
	key, node := pair[0], pair[1]
	oldObject, wasObject := old.(map[string]any)
	freshObject, isObject := fresh.(map[string]any)
	block := node.Kind == yaml.MappingNode && node.Style&yaml.FlowStyle == 0 && node.Line > key.Line
	if wasObject && isObject && block && len(freshObject) > 0 {
		s.object(node, oldObject, freshObject, end)
		return
	}
	comment := key.LineComment
	if comment == "" {
		comment = node.LineComment
	}
	s.replace(key, end, s.write(key.Value, fresh, comment, key.Column-1))
}

func (s *splicer) write(key string, v any, comment string, indent int) string {
	text, err := s.layout.member(key, v, comment, indent)
	if err != nil {
		s.failed = true
	}
	return text
}

// replace refuses a key that shares its line with something before it.
func (s *splicer) replace(key *yaml.Node, end int, text string) {
	before := s.lines[key.Line-1][:min(key.Column-1, len(s.lines[key.Line-1]))]
	if len(bytes.Trim(before, " ")) > 0 {
		s.failed = true
		return
	}
	s.splices = append(s.splices, splice{start: key.Line - 1, end: end, text: text})
}

// trim moves end up over blank lines, separators, and comments that are not
// deeper than indent: they belong to what follows.
func (s *splicer) trim(end, first, indent int) int {
	for end > first {
		line := s.lines[end-1]
		text := bytes.TrimLeft(line, " ")
		blank := len(bytes.TrimSpace(line)) == 0
		comment := bytes.HasPrefix(text, []byte("#")) && len(line)-len(text) <= indent
		if !blank && !comment && !bytes.HasPrefix(line, []byte("...")) {
			break
		}
		end--
	}
	return end
}

// join returns the lines with the splices, which are in order and apart.
func (s *splicer) join() []byte {
	lineBreak := []byte("\n")
	if bytes.HasSuffix(s.lines[0], []byte("\r\n")) {
		lineBreak = []byte("\r\n")
	}
	var out bytes.Buffer
	from := 0
	for _, splice := range s.splices {
		if splice.start < from {
			s.failed = true
			return nil
		}
		out.Write(bytes.Join(s.lines[from:splice.start], nil))
		if splice.text != "" && out.Len() > 0 && !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
			out.Write(lineBreak)
		}
		out.Write(bytes.ReplaceAll([]byte(splice.text), []byte("\n"), lineBreak))
		from = splice.end
	}
	out.Write(bytes.Join(s.lines[from:], nil))
	return out.Bytes()
}
