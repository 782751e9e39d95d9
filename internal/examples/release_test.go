package examples_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

type release struct {
	Builds []struct {
		ID, Main, Binary                  string
		Goos, Goarch, Env, Flags, Ldflags []string
		ModTimestamp                      string `json:"mod_timestamp"`
	}
	Kos []struct {
		Build, User, SBOM       string
		Repositories, Platforms []string
	}
}

func theRelease(t *testing.T) (r release) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal(read(t, ".goreleaser.yaml"), &r))
	require.Len(t, r.Builds, 1)
	require.Len(t, r.Kos, 1)
	return r
}

// The linker is silent about a variable that does not exist.
func TestAReleaseKnowsItsVersion(t *testing.T) {
	build := theRelease(t).Builds[0]
	flags := strings.ReplaceAll(strings.Join(build.Ldflags, " "), "{{ .Version }}", "1.2.3-rc.4")
	require.NotContains(t, flags, "{{")
	binary := filepath.Join(t.TempDir(), build.Binary)
	command := exec.CommandContext(t.Context(), "go", "build", "-ldflags", flags, "-o", binary, build.Main)
	command.Dir = root
	said, err := command.CombinedOutput()
	require.NoError(t, err, string(said))
	said, err = exec.CommandContext(t.Context(), binary, "version").Output()
	require.NoError(t, err)
	assert.Equal(t, "publish-metadata v1.2.3-rc.4\n", string(said))
}

func TestAReleaseIsForEveryPlatform(t *testing.T) {
	r := theRelease(t)
	assert.Equal(t, []string{"linux", "darwin", "windows"}, r.Builds[0].Goos)
	assert.Equal(t, []string{"amd64", "arm64"}, r.Builds[0].Goarch)
	assert.Contains(t, r.Builds[0].Env, "CGO_ENABLED=0")
	assert.Contains(t, r.Builds[0].Flags, "-trimpath")
	assert.NotEmpty(t, r.Builds[0].ModTimestamp)
	assert.Equal(t, []string{"linux/amd64", "linux/arm64"}, r.Kos[0].Platforms)
	assert.Equal(t, r.Builds[0].ID, r.Kos[0].Build)
	assert.Equal(t, "spdx", r.Kos[0].SBOM)
}

// The Deployment runs the image, as the user that the image has.
func TestTheImageIsTheDeployments(t *testing.T) {
	image := theRelease(t).Kos[0]
	pod, c := container(t)
	assert.Contains(t, image.Repositories, c.Image)
	assert.Equal(t, image.User, strconv.FormatInt(*pod.SecurityContext.RunAsUser, 10))
}
