package decode

import (
	"regexp"
	"strings"

	"github.com/kargo-steps/publish-metadata/schema"
)

// managerPrefix begins the field manager of every owner.
const managerPrefix = "publish-metadata/"

// maxManager is the longest name of a field manager, in bytes:
// FieldManagerMaxLength of k8s.io/apimachinery's metav1 validation.
const maxManager = 128

// Manager returns the field manager of an owner.
func Manager(owner string) string { return managerPrefix + owner }

// OwnerOf returns the owner whose field manager is manager, if it is one of ours.
func OwnerOf(manager string) (owner string, ours bool) {
	return strings.CutPrefix(manager, managerPrefix)
}

func decodeContext(raw map[string]any) Context {
	text := func(path ...string) string {
		var at any = raw
		for _, name := range path {
			object, _ := at.(map[string]any)
			at = object[name]
		}
		s, _ := at.(string)
		return s
	}
	context := Context{
		Raw:       raw,
		Project:   text("project"),
		Stage:     text("stage"),
		Promotion: text("promotion"),
		Freight:   text("targetFreight", "name"),
		Step:      text("meta", "step", "alias"),
		Actor:     text("meta", "promotion", "actor"),
	}
	meta, _ := raw["meta"].(map[string]any)
	promotion, _ := meta["promotion"].(map[string]any)
	context.Rollback, _ = promotion["rollback"].(bool)
	return context
}

// producerForm is the pattern of producer in the config's schema. It has no dot,
// so that the owners of other Stages can never be taken for one of the target's
// own; nor anything that the API server refuses in a field manager, or that looks
// like something else. Kargo's aliases may have other characters.
var producerForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_:-]*[A-Za-z0-9])?$`)

// badProducer says what is wrong with an alias, for the config's schema has
// refused such a producer already.
func badProducer(producer string) string {
	what := "has to be letters, digits, and _ : - between them"
	if strings.Contains(producer, ".") {
		what = "has a dot"
	}
	return "the producer (by default the step's alias) " + what + ": set producer to another name"
}

// own decides the target and who owns what is published there.
func own(job *Job, config map[string]any, problems *schema.Problems) {
	context := job.Context
	producer := job.Config.Producer
	if producer == "" {
		producer = context.Step
	}
	if producer == "" {
		problems.Add("/config/producer", "missing, and context.meta.step.alias is too: name the producer, or pass the step's alias")
		return
	}
	target, _ := config["target"].(map[string]any)
	job.Target = Target{Kind: "Stage", Namespace: context.Project, Name: context.Stage}
	if kind, given := target["kind"].(string); given {
		job.Target.Kind = kind
	}
	if job.Target.Kind == "Freight" {
		job.Target.Name = context.Freight
	}
	if name, given := target["name"].(string); given {
		job.Target.Name = name
	}
	if job.Target.Name == "" {
		problems.Add("/config/target/name", "missing, and context.targetFreight.name is too: name the Freight")
		return
	}
	if !producerForm.MatchString(producer) {
		problems.Add("/config/producer", "%s", badProducer(producer))
	}
	job.Owner = producer
	if !job.OnPromotedStage() {
		job.Owner = context.Stage + "." + producer
	}
	if length := len(Manager(job.Owner)); length > maxManager {
		problems.Add("/config/producer", "the field manager publish-metadata/<owner> has %d bytes, more than %d: set a shorter producer", length, maxManager)
	}
}

// OnPromotedStage says whether the target is the Stage that is promoted.
func (j Job) OnPromotedStage() bool {
	return j.Target.Kind == "Stage" && j.Target.Name == j.Context.Stage
}
