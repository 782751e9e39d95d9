package offline

import (
	"errors"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// refusal returns the fault that an error of the field manager is. Its own text is
// not used: it may quote values.
func refusal(target decode.Target, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return fault.New(fault.Invalid, target.String(), "what would be applied does not fit the manifest", err)
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			fields = append(fields, cause.Field+" ("+cause.Message+")")
		}
	}
	return fault.New(fault.Conflict, target.String(), "nothing was published, since others have the fields: "+wording.Fields(fields), err)
}

// dropNulls removes a status, a status.metadata and keys of it that are null, as
// the API server does when it reads what is stored or sent, since Kargo's CRDs do
// not make them nullable. What is in an entry may be null.
func dropNulls(object *unstructured.Unstructured) {
	parent := object.Object
	for _, name := range []string{"status", "metadata"} {
		if parent[name] == nil {
			delete(parent, name)
		}
		parent, _ = parent[name].(map[string]any)
	}
	maps.DeleteFunc(parent, func(_ string, entries any) bool { return entries == nil })
}

// valid refuses what Kargo's CRDs do: a status or a status.metadata that is no
// object. An apply that leaves nothing of one makes it null.
func valid(target decode.Target, stored *unstructured.Unstructured) error {
	at, parent := "", stored.Object
	for _, name := range []string{"status", "metadata"} {
		at += "." + name
		member, stands := parent[name]
		if !stands {
			return nil
		}
		object, isObject := member.(map[string]any)
		if !isObject {
			return fault.New(fault.Invalid, target.String(), at[1:]+" would be "+wording.Kind(member)+", which is refused: it has to be an object", nil)
		}
		parent = object
	}
	return nil
}
