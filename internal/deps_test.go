package internal

import (
	_ "github.com/agnivade/levenshtein"
	_ "github.com/expr-lang/expr"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/spf13/cobra"
	_ "github.com/stretchr/testify/require"
	_ "github.com/xeipuuv/gojsonschema"
	_ "go.yaml.in/yaml/v3"
	_ "gopkg.in/evanphx/json-patch.v4"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/util/managedfields"
	_ "k8s.io/client-go/dynamic"
	_ "k8s.io/client-go/tools/clientcmd"
	_ "k8s.io/client-go/kubernetes"
	_ "sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	_ "sigs.k8s.io/structured-merge-diff/v6/typed"
	_ "sigs.k8s.io/yaml"
)
