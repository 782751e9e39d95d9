// Package offline is the client for a Stage or Freight manifest: what the API
// server does with an apply and a patch, done to one object in memory.
//
// In: the text of a manifest. Out: a publish.Client, and the manifest as the
// writes left it. Fields are owned and merged by apimachinery's own field
// manager, so that a file and a cluster behave alike.
package offline

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
	"github.com/kargo-steps/publish-metadata/internal/value/tree"
)

// Store is one manifest. It is safe for concurrent use.
type Store struct {
	source []byte
	// given is the manifest's own resourceVersion, which stays as it is.
	given  string
	fields *managedfields.FieldManager

	mu      sync.Mutex
	object  *unstructured.Unstructured
	version int
}

// Read returns the Store of a manifest in JSON or YAML, of one object. The error
// is a *fault.Error about "manifest".
func Read(source []byte) (*Store, error) {
	tree, err := document.Parse(source)
	if err != nil {
		return nil, aboutManifest(err)
	}
	content, isObject := tree.(map[string]any)
	if !isObject {
		return nil, fault.New(fault.Invalid, subject, "it is not an object: give a Stage or a Freight", nil)
	}
	object := &unstructured.Unstructured{Object: content}
	kind := object.GetKind()
	if object.GetAPIVersion() != publish.APIVersion || kind != "Stage" && kind != "Freight" || object.GetName() == "" {
		return nil, fault.New(fault.Invalid, subject, "it is not a named Stage or Freight of "+publish.APIVersion, nil)
	}
	if err := readManagers(object); err != nil {
		return nil, err
	}
	dropNulls(object)
	gvk := schema.FromAPIVersionAndKind(publish.APIVersion, kind)
	fields, err := managedfields.NewDefaultCRDFieldManager(converter{},
		scheme{}, scheme{}, scheme{}, gvk, gvk.GroupVersion(), "status", nil)
	if err != nil {
		return nil, fault.New(fault.Invalid, subject, "its fields cannot be managed", err)
	}
	return &Store{source: source, given: object.GetResourceVersion(), fields: fields, object: object, version: 1}, nil
}

const subject = "manifest"

// aboutManifest returns an error of package document with the manifest as its subject.
func aboutManifest(err error) error {
	var failure *fault.Error
	if !errors.As(err, &failure) {
		return err
	}
	renamed := *failure
	renamed.Subject = subject
	return &renamed
}

// Get returns the object.
func (s *Store) Get(ctx context.Context, target decode.Target) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.get(ctx, target)
}

func (s *Store) get(ctx context.Context, target decode.Target) (*unstructured.Unstructured, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.New(fault.Timeout, target.String(), "the deadline passed: try again", err)
	}
	namespace := s.object.GetNamespace()
	if s.object.GetKind() != target.Kind || s.object.GetName() != target.Name || namespace != "" && namespace != target.Namespace {
		return nil, fault.New(fault.NotFound, target.String(), fmt.Sprintf("the manifest is of another object, %s %s/%s",
			s.object.GetKind(), namespace, s.object.GetName()), nil)
	}
	copied := s.object.DeepCopy()
	copied.SetNamespace(target.Namespace)
	copied.SetResourceVersion(strconv.Itoa(s.version))
	return copied, nil
}

// Apply does a server-side apply to the object's status.
func (s *Store) Apply(ctx context.Context, target decode.Target, body *unstructured.Unstructured, options publish.ApplyOptions) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	live, err := s.get(ctx, target)
	if err != nil {
		return nil, err
	}
	if version := body.GetResourceVersion(); version != "" && version != live.GetResourceVersion() {
		return nil, fmt.Errorf("%s: %w", target, publish.ErrChanged)
	}
	applied := body.DeepCopy()
	unstructured.RemoveNestedField(applied.Object, "metadata", "resourceVersion")
	stored, err := s.fields.Apply(live, applied, options.Manager, options.Force)
	if err != nil {
		return nil, refusal(target, err)
	}
	return s.store(target, live, stored.(*unstructured.Unstructured))
}

// Patch applies a JSON Patch to the object.
func (s *Store) Patch(ctx context.Context, target decode.Target, patch []byte, manager string) (*unstructured.Unstructured, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	live, err := s.get(ctx, target)
	if err != nil {
		return nil, err
	}
	patched, err := apply(live, patch)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", target, publish.ErrChanged)
	}
	dropNulls(patched)
	stored, err := s.fields.Update(live, patched, manager)
	if err != nil {
		return nil, fault.New(fault.Invalid, target.String(), "the patch cannot be applied", err)
	}
	return s.store(target, live, stored.(*unstructured.Unstructured))
}

func apply(live *unstructured.Unstructured, patch []byte) (*unstructured.Unstructured, error) {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	before, err := live.MarshalJSON()
	if err != nil {
		return nil, err
	}
	after, err := operations.Apply(before)
	if err != nil {
		return nil, err
	}
	patched := &unstructured.Unstructured{}
	return patched, patched.UnmarshalJSON(after)
}

// store keeps what a write made, unless it changed nothing but times.
func (s *Store) store(target decode.Target, live, stored *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if err := valid(target, stored); err != nil {
		return nil, err
	}
	dropNulls(stored)
	if tree.Equal(timeless(live), timeless(stored)) {
		return live, nil
	}
	namespace := s.object.GetNamespace()
	s.version++
	stampless(live, stored)
	if status, isObject := stored.Object["status"].(map[string]any); isObject && len(status) == 0 {
		unstructured.RemoveNestedField(stored.Object, "status")
	}
	s.object = stored.DeepCopy()
	s.object.SetNamespace(namespace)
	s.object.SetResourceVersion(s.given)
	stored.SetResourceVersion(strconv.Itoa(s.version))
	return stored, nil
}

// Changed says whether any write changed the object.
func (s *Store) Changed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version > 1
}

// Object returns the object as it is.
func (s *Store) Object() *unstructured.Unstructured {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.object.DeepCopy()
}

// Manifest returns the manifest as the writes left it. Everything but
// status.metadata, a status that they leave empty, and metadata.managedFields stays
// as it was; so do layout and comments of a manifest in YAML, while one in JSON is
// written anew, indented, with sorted keys.
func (s *Store) Manifest() ([]byte, error) {
	if !s.Changed() {
		return s.source, nil
	}
	object := s.Object()
	edits := []document.Edit{{Path: []string{"metadata", "managedFields"}}, {Path: []string{"status", "metadata"}}}
	for i := range edits {
		edits[i].Value, _, _ = unstructured.NestedFieldNoCopy(object.Object, edits[i].Path...)
	}
	if _, stands := object.Object["status"]; !stands {
		edits = append(edits, document.Edit{Path: []string{"status"}})
	}
	written, err := document.Replace(s.source, edits...)
	if err != nil {
		return nil, aboutManifest(err)
	}
	return written, nil
}
