package expression

import (
	"context"
	"errors"
	"math"
	"math/bits"

	"github.com/expr-lang/expr/ast"

	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// slot is what an item of a list, or a member of an object, costs in bytes
// beside its content.
const slot = 16

// run is the state of one run: what is left of its budget.
type run struct {
	ctx     context.Context
	program *Program
	env     Env

	steps, bytes, ticks int
	patterns            map[string]*pattern
	sortKinds           map[*site]string
}

// Budget is what all expressions of one request may cost together: 3,000,000 steps
// and 48 MiB of data read or made, results included. It keeps what they share, so
// that it belongs to one Env. It is not safe for concurrent use.
type Budget struct {
	steps, bytes int
	// tasks are the outputs of the alias's own task; nil before they are asked for.
	tasks map[string]any
	// keys are the names in the data; nil before they are asked for.
	keys map[string]bool
}

// NewBudget returns the Budget of one request.
func NewBudget() *Budget { return &Budget{steps: maxAllSteps, bytes: maxAllBytes} }

func newRun(ctx context.Context, program *Program, env Env) *run {
	if env.Budget == nil {
		env.Budget = NewBudget()
	}
	return &run{ctx: ctx, program: program, env: env, steps: maxSteps, bytes: maxBytes}
}

// site is a place of the expression: a constant of the compiled program.
type site struct {
	// name is the operator or function, for messages.
	name string
	// at is the offset in runes.
	at int
	// operands are the arguments as written, for messages.
	operands []ast.Node
	// cost is the steps of a loop's body.
	cost int
	// literals are the bytes of the lists and objects that its body spells out.
	literals int
	// loop is the site of the loop whose body this is.
	loop *site
	// first says that the list must have an item: reduce without initial value.
	first bool
	// regexp is the pattern of matches if it is a literal.
	regexp *pattern
}

// variables are what the program reads; no expression can spell runName.
func (r *run) variables() map[string]any {
	variables := map[string]any{"ctx": orEmpty(r.env.Context), "outputs": orEmpty(r.env.Outputs), runName: r}
	if outputs := r.taskOutputs(); outputs != nil {
		variables["task"] = map[string]any{"outputs": outputs}
	}
	return variables
}

func orEmpty(object map[string]any) map[string]any {
	if object == nil {
		return map[string]any{}
	}
	return object
}

// alive returns an Error if the context has ended.
func (r *run) alive(at int) error {
	cause := r.ctx.Err()
	if cause == nil {
		return nil
	}
	message := "the evaluation was cancelled"
	if errors.Is(cause, context.DeadlineExceeded) {
		message = "the evaluation ran out of time"
	}
	err := r.program.source.failed(at, "%s", message)
	err.Kind, err.Err = fault.Timeout, cause
	return err
}

// step charges evaluated nodes. It looks at the context now and then; between
// two looks there is little work, since all of it is charged.
func (r *run) step(at, count int) error {
	if r.ticks++; r.ticks%64 == 0 {
		if err := r.alive(at); err != nil {
			return err
		}
	}
	if count > r.steps {
		return r.spent(at, "the expression takes more than %d steps; loop over less", maxSteps)
	}
	if count > r.env.Budget.steps {
		return r.spent(at, "the expressions of the request take more than %d steps together; loop over less", maxAllSteps)
	}
	r.steps -= count
	r.env.Budget.steps -= count
	return nil
}

// charge charges data that is about to be read or made.
func (r *run) charge(at int, bytes int) error {
	if err := r.step(at, 0); err != nil {
		return err
	}
	if bytes < 0 || bytes > r.bytes {
		return r.spent(at, "the expression reads or makes more than %d bytes; use less data", maxBytes)
	}
	if bytes > r.env.Budget.bytes {
		return r.spent(at, "the expressions of the request read or make more than %d bytes together; use less data", maxAllBytes)
	}
	r.bytes -= bytes
	r.env.Budget.bytes -= bytes
	return nil
}

func (r *run) spent(at int, format string, limits ...any) error {
	err := r.program.source.failed(at, format, limits...)
	err.Kind = fault.TooLarge
	return err
}

// times multiplies sizes without overflow.
func times(a, b int) int {
	if high, low := bits.Mul64(uint64(a), uint64(b)); high == 0 && low <= math.MaxInt64 {
		return int(low)
	}
	return math.MaxInt
}

// sortCost is the cost of comparing all of size bytes in a sort of count items.
func sortCost(count, size int) int { return times(size, 1+bits.Len(uint(count))) }

// measure charges the whole tree of v, however its parts are shared, and returns
// its size. It ends as soon as the budget does. Which limit a tree exceeds first
// may depend on the order of an object's members, so the error names them all.
func (r *run) measure(at int, v any) (int, error) {
	size, err := r.tree(at, v, 0)
	if err != nil && !errors.Is(err, fault.Timeout) {
		return 0, r.spent(at, "a list or object is too large to read: the expression reads or makes more than %d bytes, all of the request more than %d, or it nests more than %d deep", maxBytes, maxAllBytes, maxDepth)
	}
	return size, err
}

func (r *run) tree(at int, v any, depth int) (int, error) {
	size := slot
	if text, ok := v.(string); ok {
		size += len(text)
	}
	if err := r.charge(at, size); err != nil {
		return 0, err
	}
	list, isList := v.([]any)
	object, isObject := v.(map[string]any)
	if (isList || isObject) && depth >= maxDepth {
		return 0, errDeep
	}
	for _, item := range list {
		below, err := r.tree(at, item, depth+1)
		if err != nil {
			return 0, err
		}
		size += below
	}
	for key, item := range object {
		below, err := r.tree(at, item, depth+1)
		if err == nil {
			err = r.charge(at, len(key))
		}
		if err != nil {
			return 0, err
		}
		size += below + len(key)
	}
	return size, nil
}
