// Package cluster is the client for a Kubernetes API server.
//
// In: a rest.Config. Out: a publish.Client whose errors are of the kinds of
// package fault and say what to do. It needs get on the resource and patch on its
// status, no discovery, and no rights to create anything.
package cluster

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kargo-steps/publish-metadata/internal/decode"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish"
)

// Client publishes to a cluster. It is safe for concurrent use.
type Client struct {
	dynamic dynamic.Interface
}

var _ publish.Client = (*Client)(nil)

// New returns the Client of a cluster. It does not throttle itself: the API
// server does, and a request that it turns away with a Retry-After is sent again
// by client-go while the context allows. The error is a *fault.Error.
func New(config *rest.Config) (*Client, error) {
	client, err := dynamic.NewForConfig(unthrottled(rest.CopyConfig(config)))
	if err != nil {
		return nil, fault.New(fault.Invalid, "cluster", "the client's configuration cannot be used", err)
	}
	return &Client{dynamic: client}, nil
}

// unthrottled returns config, changed to neither throttle nor print warnings,
// which may quote values.
func unthrottled(config *rest.Config) *rest.Config {
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	config.WarningHandlerWithContext = nil
	return config
}

// Get returns the target as the API server has it.
func (c *Client) Get(ctx context.Context, target decode.Target) (*unstructured.Unstructured, error) {
	live, err := c.resource(target).Get(ctx, target.Name, metav1.GetOptions{})
	if err != nil {
		return nil, request{ctx: ctx, target: target, verb: "get"}.classify(err)
	}
	return live, nil
}

// Apply does a server-side apply of body to the target's status.
func (c *Client) Apply(ctx context.Context, target decode.Target, body *unstructured.Unstructured, options publish.ApplyOptions) (*unstructured.Unstructured, error) {
	stored, err := c.resource(target).Apply(ctx, target.Name, body,
		metav1.ApplyOptions{FieldManager: options.Manager, Force: options.Force}, "status")
	if err != nil {
		return nil, request{ctx: ctx, target: target, verb: "patch", subresource: "/status", body: body.Object}.classify(err)
	}
	return stored, nil
}

// Patch applies a JSON Patch to the target's status. A patch that cannot be
// applied has failed its test of the resourceVersion: the target has changed.
func (c *Client) Patch(ctx context.Context, target decode.Target, patch []byte, manager string) (*unstructured.Unstructured, error) {
	stored, err := c.resource(target).Patch(ctx, target.Name, types.JSONPatchType, patch,
		metav1.PatchOptions{FieldManager: manager}, "status")
	if err != nil {
		return nil, request{ctx: ctx, target: target, verb: "patch", subresource: "/status", jsonPatch: true}.classify(err)
	}
	return stored, nil
}

func (c *Client) resource(target decode.Target) dynamic.ResourceInterface {
	version, _ := schema.ParseGroupVersion(publish.APIVersion)
	return c.dynamic.Resource(version.WithResource(resourceOf(target.Kind))).Namespace(target.Namespace)
}

// resourceOf returns the resource of a kind: Kargo's Freight has the plural "freights".
func resourceOf(kind string) string { return strings.ToLower(kind) + "s" }
