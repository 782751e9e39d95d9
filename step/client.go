package step

import (
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/publish/cluster"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
)

// NewClusterClient returns the Client of a Kubernetes cluster with Kargo's CRDs.
// The credentials of config need get on the stages (or freights) of the project,
// and patch on their status; nothing else is asked for. Requests are not throttled
// on the client's side. The error is an *Error of kind Invalid.
func NewClusterClient(config *rest.Config) (Client, error) {
	client, err := cluster.New(config)
	if err != nil {
		return nil, err
	}
	return client, nil
}

// Manifest is a Stage or Freight manifest in memory, to publish to without a
// cluster. Fields are owned and merged as the API server does it. It is safe for
// concurrent use.
type Manifest struct{ store *offline.Store }

// ReadManifest reads a manifest of one object, JSON or YAML. A manifest without a
// namespace takes part in any project. The error is an *Error of kind Invalid or
// TooLarge about "manifest".
func ReadManifest(source []byte) (*Manifest, error) {
	store, err := offline.Read(source)
	if err != nil {
		return nil, err
	}
	return &Manifest{store}, nil
}

// Client returns the Client that publishes to the manifest. Nobody else writes to
// it: give the Runner WithSettle(0).
func (m *Manifest) Client() Client { return m.store }

// Changed says whether anything has been published that was not there before.
func (m *Manifest) Changed() bool { return m.store.Changed() }

// Bytes returns the manifest as it is: the very source while it is not changed.
// All but status.metadata, a status that is left empty, and metadata.managedFields
// stays. So do comments and layout of a manifest in YAML; one in JSON is written
// anew, indented by two spaces, with sorted keys. The error is an *Error of kind
// Invalid, for a YAML layout that cannot be edited in place, or TooLarge.
func (m *Manifest) Bytes() ([]byte, error) { return m.store.Manifest() }
