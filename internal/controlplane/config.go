package controlplane

import (
	"fmt"
	"strconv"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// configure makes the administrator's config and client for s.port.
func (s *Server) configure() error {
	var err error
	if s.admin, err = s.userConfig("admin", "system:masters"); err != nil {
		return err
	}
	if s.client, err = dynamic.NewForConfig(s.admin); err != nil {
		return fmt.Errorf("control plane: failed to make a client: %w", err)
	}
	return nil
}

// userConfig returns a config for a user that need not exist anywhere: the
// client certificate is all that the server knows of it.
func (s *Server) userConfig(user string, groups ...string) (*rest.Config, error) {
	cert, key, err := s.authority.client(user, groups)
	if err != nil {
		return nil, err
	}
	cfg := s.AnonymousConfig()
	cfg.CertData, cfg.KeyData = cert, key
	return cfg, nil
}

// AnonymousConfig returns a config without credentials, to which a bearer token
// may be added. It trusts the Server's certificate authority alone.
func (s *Server) AnonymousConfig() *rest.Config {
	return &rest.Config{
		Host:            "https://127.0.0.1:" + strconv.Itoa(s.port),
		QPS:             -1, // no client-side throttling
		TLSClientConfig: rest.TLSClientConfig{CAData: s.authority.pem},
	}
}

// AdminConfig returns a config with every right. The caller may change it.
func (s *Server) AdminConfig() *rest.Config { return rest.CopyConfig(s.admin) }

// WriteKubeconfig writes a kubeconfig file, readable by its owner alone, whose
// current context is cfg with the given default namespace.
func WriteKubeconfig(path, namespace string, cfg *rest.Config) error {
	const name = "controlplane"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{
		Server: cfg.Host, CertificateAuthorityData: cfg.CAData,
	}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{
		Token: cfg.BearerToken, ClientCertificateData: cfg.CertData, ClientKeyData: cfg.KeyData,
	}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	file.CurrentContext = name
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		return fmt.Errorf("kubeconfig: failed to write: %w", err)
	}
	return nil
}
