package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/value"
	"github.com/kargo-steps/publish-metadata/internal/wording"
)

// request is what was asked of the API server, for its errors.
type request struct {
	ctx         context.Context
	target      decode.Target
	verb        string
	subresource string
	jsonPatch   bool
	body        map[string]any
}

func (r request) fault(kind fault.Kind, cause error, format string, args ...any) error {
	return fault.New(kind, r.target.String(), fmt.Sprintf(format, args...), cause)
}

// what names the request, as RBAC does.
func (r request) what() string {
	return fmt.Sprintf("%s %s%s in namespace %s", r.verb, resourceOf(r.target.Kind), r.subresource, r.target.Namespace)
}

// classify returns the fault that an error of client-go is. Its own text is not
// used: the API server quotes values.
func (r request) classify(err error) error {
	if r.ctx.Err() != nil {
		return r.fault(fault.Timeout, r.ctx.Err(), "the deadline passed during %s: try again", r.what())
	}
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return r.fault(fault.Unavailable, err, "the certificate of the API server is not trusted, or not for its address: check the certificate authority")
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return r.fault(fault.Unavailable, err, "the API server could not be reached, or did not answer in full: try again")
	}
	answer := status.Status()
	if kind, message, known := r.terminal(answer); known {
		return r.fault(kind, err, "%s", message)
	}
	switch code := int(answer.Code); {
	case code == http.StatusConflict && !isFieldConflict(answer),
		code == http.StatusUnprocessableEntity && r.jsonPatch && !hasCauses(answer):
		return fmt.Errorf("%s: %w", r.target, publish.ErrChanged)
	case code == http.StatusConflict:
		return r.fault(fault.Conflict, err, "nothing was published, since others have the fields: %s", conflicts(answer))
	case code == http.StatusUnprocessableEntity, code == http.StatusBadRequest:
		return r.fault(fault.Invalid, err, "the API server refuses to %s%s", r.what(), fields(answer))
	}
	return r.fault(fault.Unavailable, err, "the API server answered %d to %s: try again", answer.Code, r.what())
}

// terminal tells the answers that no retry can help.
func (r request) terminal(answer metav1.Status) (kind fault.Kind, message string, known bool) {
	switch code := int(answer.Code); {
	case code == http.StatusUnauthorized:
		return fault.Unauthenticated, "the API server does not accept the credentials to " + r.what() + ": renew the token", true
	case code == http.StatusForbidden:
		return fault.Forbidden, "the caller may not " + r.what() + ": grant it by a Role", true
	case code == http.StatusNotFound && (answer.Details == nil || answer.Details.Name == ""):
		return fault.NotFound, "the API server does not know Kargo's " + resourceOf(r.target.Kind) + ": install Kargo's CRDs, or use its cluster", true
	case code == http.StatusNotFound:
		return fault.NotFound, "it does not exist, and is never created: correct the project or the name", true
	case code == http.StatusRequestEntityTooLarge,
		code == http.StatusInternalServerError && strings.Contains(answer.Message, "request is too large"):
		return fault.TooLarge, fmt.Sprintf("the API server refuses its size (%d bytes were applied to what it has): publish less", value.Size(r.body)), true
	}
	return "", "", false
}

// hasCauses tells an answer about fields from one about the whole request. A
// JSON Patch whose test fails has none.
func hasCauses(answer metav1.Status) bool {
	return answer.Details != nil && len(answer.Details.Causes) > 0
}

// isFieldConflict tells a conflict of owners from one of resourceVersions.
func isFieldConflict(answer metav1.Status) bool {
	return hasCauses(answer) && slices.ContainsFunc(answer.Details.Causes, func(cause metav1.StatusCause) bool {
		return cause.Type == metav1.CauseTypeFieldManagerConflict
	})
}

// conflicts returns the fields that others have, and their managers.
func conflicts(answer metav1.Status) string {
	var texts []string
	for _, cause := range answer.Details.Causes {
		if cause.Type == metav1.CauseTypeFieldManagerConflict {
			texts = append(texts, cause.Field+" ("+cause.Message+")")
		}
	}
	return wording.Fields(texts)
}

// fields returns the fields that an answer finds fault with.
func fields(answer metav1.Status) string {
	var names []string
	if hasCauses(answer) {
		for _, cause := range answer.Details.Causes {
			if cause.Field != "" && cause.Field != "<nil>" { // as the API server names the whole object
				names = append(names, cause.Field)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", because of " + strings.Join(names, ", ")
}
