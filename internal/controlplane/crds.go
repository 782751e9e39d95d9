package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

const pollInterval = 20 * time.Millisecond

var crdResource = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

// installCRDs creates the CRDs of the files and returns the resources they
// define. It does not wait for them.
func installCRDs(ctx context.Context, client dynamic.Interface, files []string) ([]schema.GroupVersionResource, error) {
	served := make([]schema.GroupVersionResource, 0, len(files))
	for _, file := range files {
		crd, err := readObject(file)
		if err != nil {
			return nil, err
		}
		if _, err := client.Resource(crdResource).Create(ctx, crd, metav1.CreateOptions{}); err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s: failed to create: %w", crd.GetName(), err)
		}
		served = append(served, servedBy(crd)...)
	}
	return served, nil
}

func readObject(file string) (*unstructured.Unstructured, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s: failed to read: %w", filepath.Base(file), err)
	}
	json, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%s: not YAML: %w", filepath.Base(file), err)
	}
	object := new(unstructured.Unstructured)
	if err := object.UnmarshalJSON(json); err != nil {
		return nil, fmt.Errorf("%s: not a Kubernetes object: %w", filepath.Base(file), err)
	}
	return object, nil
}

// servedBy returns what a CRD defines, one resource a version.
func servedBy(crd *unstructured.Unstructured) []schema.GroupVersionResource {
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	var served []schema.GroupVersionResource
	for _, version := range versions {
		name, _, _ := unstructured.NestedString(version.(map[string]any), "name")
		served = append(served, schema.GroupVersionResource{Group: group, Version: name, Resource: plural})
	}
	return served
}

// waitForCRDs waits until each resource is established and answers a list:
// the server establishes a CRD a moment before it serves it.
func waitForCRDs(ctx context.Context, client dynamic.Interface, resources []schema.GroupVersionResource) error {
	for _, resource := range resources {
		err := poll(ctx, func(ctx context.Context) (bool, error) {
			err := established(ctx, client, resource)
			return err == nil, err
		})
		if err != nil {
			return fmt.Errorf("CustomResourceDefinition %s: not served: %w", resource.GroupResource(), err)
		}
	}
	return nil
}

func established(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource) error {
	crd, err := client.Resource(crdResource).Get(ctx, resource.GroupResource().String(), metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, condition := range conditions {
		fields, _ := condition.(map[string]any)
		if fields["type"] == "Established" && fields["status"] == "True" {
			_, err := client.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
			return err
		}
	}
	return fmt.Errorf("not established: %v", conditions)
}
