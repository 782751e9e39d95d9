package expression

import (
	"context"
	"errors"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/value"
)

// What one expression may be and cost. A source within the first three cannot
// exhaust the stack of the parser or of the compiler.
const (
	maxSource  = 8 << 10 // bytes
	maxNodes   = 4_000   // nodes of the syntax tree
	maxNesting = 100     // brackets inside brackets

	maxSteps = 1_000_000 // nodes evaluated inside loops, and items looped over
	maxBytes = 16 << 20  // data read or made
	maxDepth = 128       // lists and objects around a value, while it is evaluated

	maxAllSteps = 3 * maxSteps // of the expressions of one request
	maxAllBytes = 3 * maxBytes
)

// resultLimits bound what an expression returns.
var resultLimits = value.Limits{Nodes: 50_000, Bytes: 1 << 20, Depth: 32}

// Env is the data of one run: JSON-native trees, which are only read.
type Env struct {
	// Context is ctx; nil is an empty object.
	Context map[string]any
	// Outputs is outputs: step alias -> output; nil is an empty object.
	Outputs map[string]any
	// Alias is the alias of the step that runs. Within a task ("ship::links")
	// task.outputs are the outputs whose alias starts with "ship::", without that
	// prefix; otherwise there is no task.
	Alias string
	// Budget is what the expressions of a request share; nil is one of its own.
	Budget *Budget
}

// Program is a compiled expression: immutable, safe for concurrent use.
type Program struct {
	source *source
	root   ast.Node
	code   *vm.Program
	words  []string // strings and member names that are spelt out
}

// Compile returns the program of a bare expression, without ${{ }}. Every error
// is an *Error: a source that is too long, too nested or malformed, a name that
// does not exist, or a function called with too few or too many arguments.
func Compile(text string) (program *Program, err error) {
	src := newSource(text)
	defer func() {
		if recover() != nil {
			program, err = nil, src.failed(0, "cannot be compiled; simplify it")
		}
	}()
	if err := src.scan(); err != nil {
		return nil, err
	}
	config := configuration()
	tree, err := parser.ParseWithConfig(text, config)
	if err != nil {
		return nil, src.unparsed(err)
	}
	patcher := &patcher{source: src}
	patched := patcher.node(tree.Node)
	if patcher.err != nil {
		return nil, patcher.err
	}
	code, err := compiler.Compile(&parser.Tree{Node: patched, Source: tree.Source}, config)
	if err != nil {
		return nil, src.failed(0, "cannot be compiled; simplify it")
	}
	return &Program{source: src, root: tree.Node, code: code, words: patcher.words}, nil
}

// configuration is expr's, without its optimizer and its builtins: every call
// is of a function of this package.
func configuration() *conf.Config {
	config := conf.CreateNew()
	config.Optimize = false
	config.Strict = false
	config.MaxNodes = maxNodes
	for name := range config.Builtins {
		config.Disabled[name] = true
	}
	clear(config.Builtins)
	for name, function := range hidden() {
		config.Functions[name] = function
	}
	return config
}

// Run returns the value of the program, JSON-native and not nil, at most 50,000
// values, 1 MiB of strings and keys and a depth of 32. The error is a *Missing for
// a nil result or a member of nil, else an *Error: of kind TooLarge for a
// budget that is spent, Timeout when ctx ends, Invalid otherwise. The result may
// share parts with env.
func (p *Program) Run(ctx context.Context, env Env) (result any, err error) {
	r := newRun(ctx, p, env)
	defer func() {
		if recover() != nil {
			result, err = nil, p.source.failed(0, "cannot be evaluated")
		}
	}()
	if err := r.alive(0); err != nil {
		return nil, err
	}
	raw, err := new(vm.VM).Run(p.code, r.variables())
	if err != nil {
		return nil, p.typed(err)
	}
	if raw == nil {
		return nil, r.missing(0, p.root).whole()
	}
	native, problems := value.Native(raw, "", resultLimits)
	if len(problems) > 0 {
		return nil, p.source.unrepresentable(r.redacted(problems))
	}
	if _, err := r.measure(0, native); err != nil {
		return nil, err
	}
	return native, nil
}

// typed returns the error of this package in what the virtual machine reports.
// Any other text of it may quote a value.
func (p *Program) typed(err error) error {
	var missing *Missing
	if errors.As(err, &missing) {
		return missing
	}
	var ours *Error
	if errors.As(err, &ours) {
		return ours
	}
	at := 0
	var located *file.Error
	if errors.As(err, &located) {
		at = located.From
	}
	return p.source.failed(at, "cannot be evaluated with these values")
}

// taskOutputs returns the outputs of the alias's own task, nil outside a task.
func (r *run) taskOutputs() map[string]any {
	task, _, ok := strings.Cut(r.env.Alias, "::")
	if !ok || r.env.Budget.tasks != nil {
		return r.env.Budget.tasks
	}
	outputs := map[string]any{}
	for alias, output := range r.env.Outputs {
		if name, ok := strings.CutPrefix(alias, task+"::"); ok {
			outputs[name] = output
		}
	}
	r.env.Budget.tasks = outputs
	return outputs
}

// unrepresentable is the error of a result that JSON cannot hold.
func (s *source) unrepresentable(problems []problem) *Error {
	err := s.failed(0, "the result cannot be published")
	err.Problems = problems
	if len(problems) == 1 && problems[0].Pointer == "" && strings.HasPrefix(problems[0].Message, "exceeds") {
		err.Kind = fault.TooLarge
	}
	return err
}
