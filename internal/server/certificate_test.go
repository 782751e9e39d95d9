package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/internal/server"
)

// keyPair returns a certificate for 127.0.0.1 with a serial number, and its key.
func keyPair(t testing.TB, serial int64) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "publish-metadata"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

// mount is a folder whose files change as those of a mounted Secret do: by a
// symbolic link to a folder, which is replaced.
type mount struct{ folder string }

func (m mount) put(t testing.TB, name string, certificate, key []byte) {
	t.Helper()
	target := filepath.Join(m.folder, name)
	require.NoError(t, os.Mkdir(target, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(target, "tls.crt"), certificate, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(target, "tls.key"), key, 0o600))
	require.NoError(t, os.Symlink(name, filepath.Join(m.folder, "..next")))
	require.NoError(t, os.Rename(filepath.Join(m.folder, "..next"), filepath.Join(m.folder, "..data")))
}

// startTLS serves the pair of a mount; each request has a connection of its own,
// and serials sees the certificates.
func startTLS(t *testing.T, m mount, trusted *x509.CertPool, serial *atomic.Int64) *running {
	t.Helper()
	r := start(t, newFakeAPI(t).config(), func(o *server.Options) {
		o.CertFile, o.KeyFile = filepath.Join(m.folder, "..data", "tls.crt"), filepath.Join(m.folder, "..data", "tls.key")
	})
	r.client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{
		RootCAs: trusted,
		VerifyConnection: func(state tls.ConnectionState) error {
			serial.Store(state.PeerCertificates[0].SerialNumber.Int64())
			return nil
		},
	}}}
	return r
}

func TestACertificateIsRotatedUnderLoad(t *testing.T) {
	m, trusted := mount{t.TempDir()}, x509.NewCertPool()
	first, firstKey := keyPair(t, 1)
	second, secondKey := keyPair(t, 2)
	trusted.AppendCertsFromPEM(first)
	trusted.AppendCertsFromPEM(second)
	m.put(t, "..1", first, firstKey)
	var serial, served atomic.Int64
	r := startTLS(t, m, trusted, &serial)

	stop := make(chan struct{})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				a, err := r.try(t.Context(), goodToken, linkTo("https://a.example.com"))
				if assert.NoError(t, err) && assert.Equal(t, 200, a.code) {
					served.Add(1)
				}
			}
		})
	}
	eventually(t, "the first certificate is served", func() bool { return serial.Load() == 1 && served.Load() > 10 })
	m.put(t, "..2", second, secondKey)
	eventually(t, "the second certificate is served", func() bool { return serial.Load() == 2 })
	close(stop)
	group.Wait()
	require.Equal(t, "1", r.metric(t, `publish_metadata_certificate_reloads_total{result="success"}`))
	require.Equal(t, "0", r.metric(t, `publish_metadata_certificate_reloads_total{result="failure"}`))
}

func TestABrokenCertificateIsNotUsed(t *testing.T) {
	m, trusted := mount{t.TempDir()}, x509.NewCertPool()
	first, firstKey := keyPair(t, 1)
	second, secondKey := keyPair(t, 2)
	trusted.AppendCertsFromPEM(first)
	trusted.AppendCertsFromPEM(second)
	m.put(t, "..1", first, firstKey)
	var serial atomic.Int64
	r := startTLS(t, m, trusted, &serial)

	m.put(t, "..2", second, firstKey)
	failed := func() bool {
		return r.metric(t, `publish_metadata_certificate_reloads_total{result="failure"}`) == "1"
	}
	eventually(t, "the broken pair is counted", failed)
	require.EqualValues(t, 1, serial.Load(), "the old certificate is kept")
	require.Len(t, r.logs.lines(t, "the changed certificate is not used"), 1)
	require.NotContains(t, r.logs.String(), "PRIVATE")
	m.put(t, "..3", second, secondKey)
	eventually(t, "the mended pair is served", func() bool { r.get(t, "/healthz"); return serial.Load() == 2 })
	require.True(t, failed(), "the broken pair is counted once")
}

func TestOldTLSIsRefused(t *testing.T) {
	m, trusted := mount{t.TempDir()}, x509.NewCertPool()
	certificate, key := keyPair(t, 1)
	trusted.AppendCertsFromPEM(certificate)
	m.put(t, "..1", certificate, key)
	r := startTLS(t, m, trusted, &atomic.Int64{})
	_, err := tls.Dial("tcp", r.url[len("https://"):], &tls.Config{RootCAs: trusted, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})
	require.ErrorContains(t, err, "protocol version")
}
