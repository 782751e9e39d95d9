package examples_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// objects returns the objects of a manifest under examples/, in their order. A
// member that stands twice fails the test.
func objects(t testing.TB, file string) (all []*unstructured.Unstructured) {
	t.Helper()
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(read(t, "examples", filepath.FromSlash(file)))))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			require.NotEmpty(t, all, file)
			return all
		}
		require.NoError(t, err, file)
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.UnmarshalStrict(document, &object.Object), file)
		require.NotEmpty(t, object.GetKind(), file)
		all = append(all, object)
	}
}

// manifests are the files of a folder under examples/ that hold objects, sorted.
func manifests(t testing.TB, folder string) (files []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "examples", folder))
	require.NoError(t, err)
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".yaml" && entry.Name() != kustomization {
			files = append(files, folder+"/"+entry.Name())
		}
	}
	require.NotEmpty(t, files)
	return files
}

const kustomization = "kustomization.yaml"

// into converts the only object of a manifest to its type.
func into[T any](t testing.TB, file string) (typed T) {
	t.Helper()
	all := objects(t, file)
	require.Len(t, all, 1, file)
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(all[0].Object, &typed, true), file)
	return typed
}
