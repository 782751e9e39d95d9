package publish

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kargo-steps/publish-metadata/internal/decode"
)

// APIVersion is the version of Kargo's resources that is read and written.
const APIVersion = "kargo.akuity.io/v1alpha1"

// ErrChanged says that the target is not at the resourceVersion that a write
// named: it is read and decided anew.
var ErrChanged = errors.New("the target has changed since it was read")

// Client reads and writes targets. Every error but ErrChanged, which may be
// wrapped, is a *fault.Error. Objects that it returns are the caller's.
type Client interface {
	// Get returns the target as it is stored, never from a cache.
	Get(ctx context.Context, target decode.Target) (*unstructured.Unstructured, error)
	// Apply applies body to the target's status, server-side, and returns the
	// stored object. It never creates the target.
	Apply(ctx context.Context, target decode.Target, body *unstructured.Unstructured, options ApplyOptions) (*unstructured.Unstructured, error)
	// Patch applies a JSON Patch (RFC 6902) to the target's status.
	Patch(ctx context.Context, target decode.Target, patch []byte, manager string) (*unstructured.Unstructured, error)
}

// ApplyOptions say for whom and how an apply is done.
type ApplyOptions struct {
	// Manager is the field manager, at most 128 bytes.
	Manager string
	// Force takes the applied fields from other managers.
	Force bool
}
