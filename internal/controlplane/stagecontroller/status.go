package stagecontroller

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// statusOf returns the Stage's own status, empty if there is none.
func statusOf(stage *unstructured.Unstructured) map[string]any {
	if status, ok := stage.Object["status"].(map[string]any); ok {
		return status
	}
	return map[string]any{}
}

// setReconciling sets the condition by which Kargo shows that a pass is under
// way; "" removes it.
func setReconciling(status map[string]any, message string) {
	const kind = "Reconciling"
	conditions, _ := status["conditions"].([]any)
	conditions = slices.DeleteFunc(slices.Clone(conditions), func(condition any) bool {
		fields, ok := condition.(map[string]any)
		return ok && fields["type"] == kind
	})
	if message != "" {
		conditions = append(conditions, map[string]any{
			"type": kind, "status": "True", "reason": kind, "message": message,
			"lastTransitionTime": "2026-01-02T03:04:05Z",
		})
	}
	if len(conditions) == 0 {
		delete(status, "conditions")
		return
	}
	status["conditions"] = conditions
}
