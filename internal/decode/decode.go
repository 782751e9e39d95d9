// Package decode is the first stage: it turns a request into a Job.
//
// In: the request document, as any Go tree. Out: a Job, in which every value is
// JSON-native and bounded, every item is valid by itself, and every inline schema
// compiles, with Findings on what is left out; or an error that lists everything
// that is wrong with the form of the document.
package decode

import (
	"context"
	"time"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/schema"
)

// Job is a decoded request.
type Job struct {
	Context Context
	// Outputs is step alias -> output.
	Outputs map[string]any
	Config  Config
	// Owner owns the entries on the target: the producer on the promoted Stage,
	// "<stage>.<producer>" elsewhere.
	Owner string
	// Target is what is published to.
	Target Target
	// Registry knows the schema of a key that only a step's output names.
	Registry *schema.Registry
	// Budget is what is left of the request's for schemas and validations.
	Budget *schema.Budget
	Findings
}

// Context is what is read of Kargo's ctx object. Absent members are "".
type Context struct {
	// Raw is the whole object, for expressions.
	Raw map[string]any
	// Project is the Kubernetes namespace.
	Project string
	// Stage is the promoted Stage.
	Stage string
	// Promotion is "" for a publication outside any promotion.
	Promotion string
	// Freight is the name of the target Freight.
	Freight string
	// Step is the full alias of the step, "ship::links" in a task.
	Step  string
	Actor string
	// Rollback says that the promotion goes back to older Freight.
	Rollback bool
}

// Target is the resource whose status.metadata is published to.
type Target struct {
	// Kind is "Stage" or "Freight".
	Kind string
	// Namespace is the project.
	Namespace string
	Name      string
}

// String returns "Kind namespace/name", the subject of messages.
func (t Target) String() string {
	return t.Kind + " " + t.Namespace + "/" + t.Name
}

// Config is the step's configuration.
type Config struct {
	Producer string
	Items    []Item
	// Settle is how long a publication has to hold; nil is the target's default.
	Settle *time.Duration
}

// Decode returns the Job of a request document {context, outputs, config}, with
// the items that are sound. The error is a *fault.Error: Invalid for a document
// of another form, with problems that point into it, or Timeout when ctx ended.
func Decode(ctx context.Context, registry *schema.Registry, document map[string]any) (Job, error) {
	tree, problems := value.Native(document, "", value.DefaultLimits)
	if len(problems) > 0 {
		return Job{}, fault.Of(fault.Invalid, "request", problems)
	}
	request := tree.(map[string]any)
	problems = schema.ValidateRequest(request)
	if config, given := request["config"]; given {
		problems = append(problems, schema.ValidateConfig(config).Under("/config")...)
	}
	if len(problems) > 0 {
		return Job{}, fault.Of(fault.Invalid, "request", problems)
	}

	job := Job{Registry: registry, Budget: schema.NewBudget(), Context: decodeContext(request["context"].(map[string]any))}
	job.Outputs, _ = request["outputs"].(map[string]any)
	config := request["config"].(map[string]any)
	job.Config.Producer, _ = config["producer"].(string)
	settle(&job.Config, config, &job.Problems)
	own(&job, config, &job.Problems)
	items := job.decodeItems(ctx, config["metadata"].([]any))
	if err := ctx.Err(); err != nil {
		return Job{}, fault.New(fault.Timeout, "request", "the deadline passed while the config was read: try again", err)
	}
	job.Config.Items = job.sound(items)
	return job, nil
}

func settle(config *Config, document map[string]any, problems *schema.Problems) {
	text, given := document["settle"].(string)
	if !given {
		return
	}
	window, err := time.ParseDuration(text)
	if err != nil || window < 0 || window > MaxSettle {
		problems.Add("/config/settle", "not a duration from 0s to %s", MaxSettle)
		return
	}
	config.Settle = &window
}

// MaxSettle is the longest settle window of a config.
const MaxSettle = 5 * time.Second

// MaxKeys is how many keys one request publishes: provenance lists no more.
const MaxKeys = 50
