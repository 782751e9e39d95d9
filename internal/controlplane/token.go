package controlplane

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TokenUntil returns a service account's token, as ServiceAccountConfig gives one,
// with another time at which it expires, signed by the Server's own key. It was
// issued an hour before that, so that a time in the past makes an expired token.
func (s *Server) TokenUntil(t testing.TB, token string, expires time.Time) string {
	t.Helper()
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	encoding := base64.RawURLEncoding
	content, err := encoding.DecodeString(parts[1])
	require.NoError(t, err)
	var claims map[string]any
	require.NoError(t, json.Unmarshal(content, &claims))
	claims["exp"], claims["iat"] = expires.Unix(), expires.Add(-time.Hour).Unix()
	claims["nbf"] = claims["iat"]
	content, err = json.Marshal(claims)
	require.NoError(t, err)
	signed := parts[0] + "." + encoding.EncodeToString(content)
	hash := sha256.Sum256([]byte(signed))
	r, z, err := ecdsa.Sign(rand.Reader, s.tokenKey(t), hash[:])
	require.NoError(t, err)
	signature := append(r.FillBytes(make([]byte, 32)), z.FillBytes(make([]byte, 32))...)
	return signed + "." + encoding.EncodeToString(signature)
}

func (s *Server) tokenKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	content, err := os.ReadFile(s.path(tokenKey))
	require.NoError(t, err)
	block, _ := pem.Decode(content)
	require.NotNil(t, block)
	if key, err := x509.ParseECPrivateKey(block.Bytes); err == nil {
		return key
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(t, err)
	return key.(*ecdsa.PrivateKey)
}
