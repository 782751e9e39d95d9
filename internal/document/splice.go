package document

import (
	"bytes"
	"errors"
	"regexp"

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
	s := &splicer{lines: linesOf(data), layout: layoutOf(root)}
	old, isObject := before.(map[string]any)
	fresh, staysObject := after.(map[string]any)
	if !isObject || !staysObject || root.Style&yaml.FlowStyle != 0 || len(fresh) == 0 {
		return []byte(s.layout.document(after)), nil
	}
	if lastLine(root) > len(s.lines) {
		return nil, errLayout
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
		return nil, errLayout
	}
	return replaced, nil
}

var errLayout = invalid("its layout cannot be edited in place; write the objects around the change in plain block style")

// lineBreak is what the YAML library takes for one: those of YAML 1.1.
var lineBreak = regexp.MustCompile("\r\n|[\n\r\u0085\u2028\u2029]")

// linesOf returns the lines of a document, each with its line break.
func linesOf(data []byte) [][]byte {
	var lines [][]byte
	from := 0
	for _, at := range lineBreak.FindAllIndex(data, -1) {
		lines = append(lines, data[from:at[1]])
		from = at[1]
	}
	return append(lines, data[from:])
}

// lastLine returns the last line that a node begins on.
func lastLine(node *yaml.Node) int {
	last := node.Line
	for _, child := range node.Content {
		last = max(last, lastLine(child))
	}
	return last
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
		next = s.trim(next, key.Line, s.indentOf(key))
		last = next
		member, stays := fresh[key.Value]
		if !stays {
			s.replace(key, next, "")
			continue
		}
		s.member(node.Content[i:i+2], old[key.Value], member, next)
	}
	indent := s.indentOf(node.Content[0])
	text := ""
	for _, key := range tree.SortedKeys(fresh) {
		if _, exists := old[key]; !exists {
			text += s.layout.member(key, fresh[key], "", indent)
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
	block := node.Kind == yaml.MappingNode && node.Style&yaml.FlowStyle == 0 && node.Line > key.Line && s.alone(node)
	if wasObject && isObject && block && len(freshObject) > 0 {
		s.object(node, oldObject, freshObject, end)
		return
	}
	comment := key.LineComment
	if comment == "" {
		comment = node.LineComment
	}
	s.replace(key, end, s.layout.member(key.Value, fresh, comment, s.indentOf(key)))
}

// before returns what is on a node's line before it.
func (s *splicer) before(node *yaml.Node) []byte {
	line := s.lines[node.Line-1]
	return line[:min(node.Column-1, len(line))]
}

// alone says whether a node begins its line.
func (s *splicer) alone(node *yaml.Node) bool {
	return len(bytes.Trim(s.before(node), " ")) == 0
}

// indentOf returns where a member begins: at its key, or at the question mark of
// an explicit key.
func (s *splicer) indentOf(key *yaml.Node) int {
	marked := bytes.TrimRight(s.before(key), " ")
	if indent, isMarked := bytes.CutSuffix(marked, []byte("?")); isMarked {
		return len(indent)
	}
	return key.Column - 1
}

// replace refuses a key that shares its line with something before it, other than
// the question mark of an explicit key.
func (s *splicer) replace(key *yaml.Node, end int, text string) {
	if len(bytes.Trim(s.before(key)[:s.indentOf(key)], " ")) > 0 {
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
