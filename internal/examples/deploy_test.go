package examples_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"github.com/kargo-steps/publish-metadata/internal/cli"
)

func container(t testing.TB) (corev1.PodSpec, corev1.Container) {
	t.Helper()
	pod := into[appsv1.Deployment](t, "deploy/deployment.yaml").Spec.Template.Spec
	require.Len(t, pod.Containers, 1)
	return pod, pod.Containers[0]
}

// flag returns the value of a flag of serve with the container's arguments.
func flag(t testing.TB, name string) string {
	t.Helper()
	_, c := container(t)
	root := cli.NewCommand(cli.Streams{Out: io.Discard, Err: io.Discard})
	serve, rest, err := root.Find(c.Args)
	require.NoError(t, err)
	require.Equal(t, "serve", serve.Name())
	require.NoError(t, serve.ParseFlags(rest))
	require.Empty(t, serve.Flags().Args())
	value := serve.Flags().Lookup(name)
	require.NotNil(t, value, name)
	return value.Value.String()
}

func TestTheDeploymentRunsServe(t *testing.T) {
	pod, c := container(t)
	ports := map[string]string{}
	for _, port := range c.Ports {
		ports[port.Name] = fmt.Sprintf(":%d", port.ContainerPort)
	}
	assert.Equal(t, flag(t, "address"), ports["https"])
	assert.Equal(t, flag(t, "metrics-address"), ports["metrics"])
	for _, probe := range []*corev1.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		assert.Equal(t, intstr.FromString("https"), probe.HTTPGet.Port)
		assert.Equal(t, corev1.URISchemeHTTPS, probe.HTTPGet.Scheme)
	}
	assert.Equal(t, "/readyz", c.ReadinessProbe.HTTPGet.Path)
	assert.Equal(t, "/healthz", c.LivenessProbe.HTTPGet.Path, "a pod is not restarted because the API server is away")

	delay, err := time.ParseDuration(flag(t, "shutdown-delay"))
	require.NoError(t, err)
	timeout, err := time.ParseDuration(flag(t, "shutdown-timeout"))
	require.NoError(t, err)
	assert.Greater(t, time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second, delay+timeout)
	longest, err := time.ParseDuration(flag(t, "request-timeout"))
	require.NoError(t, err)
	assert.Greater(t, timeout, longest)
}

func TestTheFilesOfTheFlagsAreMounted(t *testing.T) {
	pod, c := container(t)
	volumes := map[string]corev1.Volume{}
	for _, volume := range pod.Volumes {
		volumes[volume.Name] = volume
	}
	mounted := map[string]corev1.Volume{}
	for _, mount := range c.VolumeMounts {
		assert.True(t, mount.ReadOnly)
		mounted[mount.MountPath] = volumes[mount.Name]
	}
	assert.Equal(t, "/tls/tls.crt", flag(t, "tls-cert-file"))
	assert.Equal(t, "/tls/tls.key", flag(t, "tls-private-key-file"))
	secret := mounted["/tls"].Secret
	require.NotNil(t, secret)
	certificate := find(t, "deploy/certificate.yaml", "Certificate", "publish-metadata")
	assert.Equal(t, secret.SecretName, certificate["secretName"])

	assert.Equal(t, "/kube-root-ca/ca.crt", flag(t, "certificate-authority"))
	authority := mounted["/kube-root-ca"].ConfigMap
	require.NotNil(t, authority)
	assert.Equal(t, "kube-root-ca.crt", authority.Name)
	assert.Equal(t, []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}, authority.Items)
}

// The names of the certificate, of the Service and of the task's variable agree.
func TestTheTaskFindsTheService(t *testing.T) {
	service := into[corev1.Service](t, "deploy/service.yaml")
	assert.Equal(t, inCluster, "https://"+service.Name+"."+service.Namespace+".svc")
	assert.Equal(t, int32(443), service.Spec.Ports[0].Port)
	certificate := find(t, "deploy/certificate.yaml", "Certificate", "publish-metadata")
	assert.Contains(t, certificate["dnsNames"], strings.TrimPrefix(inCluster, "https://"))
	_, vars := stepsOf(t, "kargo-http/clusterpromotiontask.yaml", "ClusterPromotionTask", "spec")
	assert.Contains(t, vars, variable{"server", inCluster})
}

func find(t testing.TB, file, kind, name string) map[string]any {
	t.Helper()
	for _, object := range objects(t, file) {
		if object.GetKind() == kind && object.GetName() == name {
			spec, _, _ := unstructured.NestedMap(object.Object, "spec")
			return spec
		}
	}
	require.Fail(t, "no such object", "%s has no %s %s", file, kind, name)
	return nil
}

func TestThePodHasNoRights(t *testing.T) {
	pod, c := container(t)
	account := into[corev1.ServiceAccount](t, "deploy/serviceaccount.yaml")
	assert.Equal(t, account.Name, pod.ServiceAccountName)
	assert.False(t, *account.AutomountServiceAccountToken)
	assert.False(t, *pod.AutomountServiceAccountToken)
	assert.True(t, *pod.SecurityContext.RunAsNonRoot)
	assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
	assert.True(t, *c.SecurityContext.ReadOnlyRootFilesystem)
	assert.False(t, *c.SecurityContext.AllowPrivilegeEscalation)
	assert.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop)
	for _, file := range manifests(t, "deploy") {
		for _, object := range objects(t, file) {
			assert.NotContains(t, object.GetKind(), "Role")
		}
	}
}

func TestEverythingSelectsThePods(t *testing.T) {
	deployment := into[appsv1.Deployment](t, "deploy/deployment.yaml")
	labels := deployment.Spec.Template.Labels
	assert.Equal(t, labels, deployment.Spec.Selector.MatchLabels)
	assert.Equal(t, labels, into[corev1.Service](t, "deploy/service.yaml").Spec.Selector)
	assert.Equal(t, labels, into[policyv1.PodDisruptionBudget](t, "deploy/poddisruptionbudget.yaml").Spec.Selector.MatchLabels)
	assert.Equal(t, labels, into[networkingv1.NetworkPolicy](t, "deploy/networkpolicy.yaml").Spec.PodSelector.MatchLabels)
	apart := deployment.Spec.Template.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution
	assert.Equal(t, labels, apart[0].PodAffinityTerm.LabelSelector.MatchLabels)
	assert.Equal(t, int32(2), *deployment.Spec.Replicas)
}

func TestTheKustomizationIsWhole(t *testing.T) {
	var k struct {
		APIVersion, Kind string
		Resources        []string
		Images           []struct{ Name, NewTag string }
	}
	require.NoError(t, yaml.UnmarshalStrict(read(t, "examples", "deploy", kustomization), &k))
	var files []string
	for _, name := range k.Resources {
		files = append(files, "deploy/"+name)
	}
	assert.ElementsMatch(t, manifests(t, "deploy"), files)
	_, c := container(t)
	assert.Equal(t, c.Image, k.Images[0].Name)
}
