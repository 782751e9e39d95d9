package schema_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kargo-steps/publish-metadata/schema"
)

func TestCheckURL(t *testing.T) {
	type urls struct {
		Accepted []string          `yaml:"accepted"`
		Refused  map[string]string `yaml:"refused"`
	}
	all := load[urls](t, "urls.yaml")
	for _, accepted := range all.Accepted {
		assert.Empty(t, schema.CheckURL(accepted), "%q", accepted)
		_, err := url.Parse(accepted)
		require.NoError(t, err)
	}
	for refused, reason := range all.Refused {
		got := schema.CheckURL(refused)
		assert.Contains(t, got, reason, "%q", refused)
		if len(refused) > 8 {
			assert.NotContains(t, got, refused)
		}
	}
	assert.Contains(t, schema.CheckURL("https://example.com/\xff"), "UTF-8")
	assert.Contains(t, schema.CheckURL("https://"+text(254)), "longer than 253 bytes")
	assert.Empty(t, schema.CheckURL("https://a.example/"+text(schema.MaxURL-18)))
	assert.Contains(t, schema.CheckURL("https://a.example/"+text(schema.MaxURL-17)), "longer than 2048 bytes")
}

func TestRepositoryAndArtifactAddresses(t *testing.T) {
	formats := map[string]*schema.Schema{}
	for _, format := range []string{"repo-url", "artifact-uri"} {
		compiled, err := schema.Compile(object{"format": format})
		require.NoError(t, err)
		formats[format] = compiled
	}
	for _, test := range []struct{ format, value, says string }{
		{"repo-url", "https://git.example.com/a/b.git", ""},
		{"repo-url", "http://git.example.com:3000/a", ""},
		{"repo-url", "ssh://git@git.example.com/a", ""},
		{"repo-url", "SSH://git.example.com:22/a", ""},
		{"repo-url", "git@git.example.com:a/b", ""},
		{"repo-url", "org-1@ssh.example.com:v3/a/b/c", ""},
		{"repo-url", "git.example.com:a/b", "has to begin with"},
		{"repo-url", "git@git.example.com", "has to begin with"},
		{"repo-url", "git@git.example.com:", "names no repository"},
		{"repo-url", "g:t@git.example.com:a", "has to begin with"},
		{"repo-url", "git@-x.example.com:a", "not a valid name"},
		{"repo-url", "-oProxyCommand=x@git.example.com:a", "has to begin with"},
		{"repo-url", "ssh://git.example.com", "names no repository"},
		{"repo-url", "ssh://git@git.example.com:0/a", "port"},
		{"repo-url", "ssh://-oProxyCommand=x/a", "not a valid name"},
		{"repo-url", "ssh://a@b@git.example.com/a", "host that is not a valid name"},
		{"repo-url", "ssh://g%3ax@git.example.com/a", "password"},
		{"repo-url", "git://git.example.com/a", "has to begin with"},
		{"repo-url", "ext::sh -c x", "white space"},
		{"artifact-uri", "registry.example.com/a/b", ""},
		{"artifact-uri", "[::1]:5000/a", ""},
		{"artifact-uri", "localhost/a", ""},
		{"artifact-uri", "a__b/c--d", ""},
		{"artifact-uri", "oci://localhost:5000/a", ""},
		{"artifact-uri", "HTTPS://files.example.com/a", ""},
		{"artifact-uri", "pkg:npm/%40scope/name@1.0.0", ""},
		{"artifact-uri", "pkg:npm/name@a@b", "package URL"},
		{"artifact-uri", "pkg:", "package URL"},
		{"artifact-uri", "https:///x", "has no host"},
		{"artifact-uri", "//registry.example.com/a", "in lower case"},
		{"artifact-uri", "a//b", "in lower case"},
		{"artifact-uri", "a/", "in lower case"},
		{"artifact-uri", "../a", "host that is not a valid name"},
		{"artifact-uri", "registry.example.com:x/a", "port"},
		{"artifact-uri", "vbscript:x", "tag"},
		{"artifact-uri", "data:text/html,x", "port"},
		{"artifact-uri", "ftp://x/y", "port"},
		{"artifact-uri", "", "is empty"},
		{"artifact-uri", "a" + strings.Repeat("/a", 1024), "longer than 2048"},
	} {
		problems := formats[test.format].Validate(test.value)
		if test.says == "" {
			assert.Empty(t, problems, test.value)
			continue
		}
		if assert.Len(t, problems, 1, test.value) {
			assert.Contains(t, problems[0].Message, test.says, test.value)
		}
	}
}
