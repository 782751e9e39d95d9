package cli

import (
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish/cluster"
	"github.com/kargo-steps/publish-metadata/step"
)

// clusterOptions are kubectl's flags for the cluster and its user.
type clusterOptions struct {
	kubeconfig string
	overrides  clientcmd.ConfigOverrides
}

func (o *clusterOptions) bind(flags *pflag.FlagSet) {
	o.bindAs(flags, clientcmd.RecommendedConfigOverrideFlags(""))
}

// bindAnonymous leaves out the flags about credentials, and --request-timeout.
func (o *clusterOptions) bindAnonymous(flags *pflag.FlagSet) {
	names := clientcmd.RecommendedConfigOverrideFlags("")
	names.AuthOverrideFlags = clientcmd.AuthOverrideFlags{}
	names.ContextOverrideFlags.AuthInfoName = clientcmd.FlagInfo{}
	names.Timeout = clientcmd.FlagInfo{}
	o.bindAs(flags, names)
}

func (o *clusterOptions) bindAs(flags *pflag.FlagSet, names clientcmd.ConfigOverrideFlags) {
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig; by default KUBECONFIG, then ~/.kube/config, then the pod's service account")
	names.ContextOverrideFlags.Namespace = clientcmd.FlagInfo{} // the request's project says it
	clientcmd.BindOverrideFlags(&o.overrides, flags, names)
}

// client returns the client of the cluster.
func (o *clusterOptions) client() (step.Client, error) {
	config, err := o.config("set --kubeconfig, or use --stage-file or --dry-run=client")
	if err != nil {
		return nil, err
	}
	return cluster.New(config)
}

// config returns how the cluster is reached; advice says what to do where nothing
// says so. The text of clientcmd's errors is left out: it quotes the kubeconfig.
func (o *clusterOptions) config(advice string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &o.overrides).ClientConfig()
	switch {
	case clientcmd.IsEmptyConfig(err):
		return nil, fault.New(fault.Invalid, "cluster",
			"there is no kubeconfig and no service account: "+advice, err)
	case err != nil:
		return nil, fault.New(fault.Invalid, "cluster", "the kubeconfig cannot be used: check it with kubectl config view", err)
	}
	return config, nil
}
