package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The files of a Server's folder, in which both processes run. etcd listens on
// sockets there, named as its URLs have it: no port to be taken by somebody
// else, no other user who can connect, and no path too long for a socket.
const (
	etcdSocket     = "client:1"
	etcdPeerSocket = "peer:1"
	authorityFile  = "ca.crt"
	servingCert    = "serving.crt"
	servingKey     = "serving.key"
	tokenKey       = "service-account.key"
)

// etcdFlags trade durability against the machine's crash for speed: the data
// survives the processes, which is all that a restart needs. The folder's path
// is in the flags of both processes, for who looks at a list of processes.
func etcdFlags(folder string) []string {
	client, peer := "unix://"+etcdSocket, "unix://"+etcdPeerSocket
	return []string{
		"--name=test",
		"--data-dir=" + filepath.Join(folder, "etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=test=" + peer,
		"--unsafe-no-fsync",
		"--log-level=warn",
	}
}

// idleAdmission are the default admission plugins that do nothing for custom
// resources, namespaces and RBAC, or need controllers that do not run here.
var idleAdmission = []string{
	"CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction",
	"DefaultIngressClass", "DefaultStorageClass", "DefaultTolerationSeconds", "LimitRanger",
	"PersistentVolumeClaimResize", "PodSecurity", "Priority", "ResourceQuota", "RuntimeClass",
	"ServiceAccount", "StorageObjectInUseProtection", "TaintNodesByCondition",
}

func apiserverFlags(folder string, port int) []string {
	return []string{
		"--etcd-servers=unix://" + etcdSocket,
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		"--cert-dir=" + folder,
		"--tls-cert-file=" + servingCert,
		"--tls-private-key-file=" + servingKey,
		"--client-ca-file=" + authorityFile,
		"--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + tokenKey,
		"--service-account-signing-key-file=" + tokenKey,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--endpoint-reconciler-type=none",
		"--disable-admission-plugins=" + strings.Join(idleAdmission, ","),
		"--profiling=false",
	}
}

// writeCredentials makes the Server's certificate authority and writes what
// the kube-apiserver reads.
func (s *Server) writeCredentials() error {
	var err error
	if s.authority, err = newAuthority(); err != nil {
		return err
	}
	cert, key, err := s.authority.serving()
	if err != nil {
		return err
	}
	_, signing, err := newKey()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		authorityFile: s.authority.pem, servingCert: cert, servingKey: key, tokenKey: signing,
	} {
		if err := os.WriteFile(s.path(name), content, 0o600); err != nil {
			return fmt.Errorf("control plane: failed to write %s: %w", name, err)
		}
	}
	return nil
}
