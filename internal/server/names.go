package server

import "log/slog"

// names are what the log may tell of a request: they are bounded, since those of
// an invalid request may be anything.
type names struct{ project, stage, promotion, step, producer string }

// maxName is the length of the longest name in Kubernetes.
const maxName = 253

func namesOf(members map[string]any) names {
	text := func(path ...string) string {
		var at any = members
		for _, name := range path {
			object, _ := at.(map[string]any)
			at = object[name]
		}
		s, _ := at.(string)
		return bounded(s, maxName)
	}
	n := names{
		project:   text("context", "project"),
		stage:     text("context", "stage"),
		promotion: text("context", "promotion"),
		step:      text("context", "meta", "step", "alias"),
		producer:  text("config", "producer"),
	}
	if n.producer == "" {
		n.producer = n.step
	}
	return n
}

func (n names) attributes() []slog.Attr {
	return []slog.Attr{
		slog.String("project", n.project), slog.String("stage", n.stage), slog.String("promotion", n.promotion),
		slog.String("step", n.step), slog.String("producer", n.producer),
	}
}
