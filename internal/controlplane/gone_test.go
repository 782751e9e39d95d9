//go:build integration

package controlplane_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	// patience is how long something that takes seconds may take on a busy machine.
	patience = time.Minute
	tick     = 20 * time.Millisecond
)

func TestNothingIsLeftWhenTheTestProcessDies(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{
		"killed":      syscall.SIGKILL,
		"interrupted": syscall.SIGINT,
		"terminated":  syscall.SIGTERM,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			helper, said := startHelper(t, temp)
			line, err := said.ReadString('\n')
			require.NoError(t, err)
			host := strings.TrimSpace(line)
			require.NoError(t, dial(host))
			require.Equal(t, 4, processesIn(t, temp))
			require.NoError(t, helper.Process.Signal(signal))
			require.Error(t, helper.Wait())
			assertGone(t, temp)
			assert.Error(t, dial(host))
		})
	}
	t.Run("killed while it starts", func(t *testing.T) {
		t.Parallel()
		temp := t.TempDir()
		helper, _ := startHelper(t, temp)
		require.Eventually(t, func() bool { return processesIn(t, temp) > 0 }, patience, tick)
		require.NoError(t, helper.Process.Kill())
		require.Error(t, helper.Wait())
		assertGone(t, temp)
	})
}

// startHelper runs this test binary as a process that holds a Server in temp.
func startHelper(t *testing.T, temp string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), helperVariable+"=1", "TMPDIR="+temp)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewReader(out)
}

func assertGone(t *testing.T, temp string) {
	t.Helper()
	assert.Eventually(t, func() bool { return processesIn(t, temp) == 0 }, patience, tick, "processes are left")
	assert.Eventually(t, func() bool { return len(entries(t, temp)) == 0 }, patience, tick, "the folder is left")
}

// processesIn counts the processes of Servers whose folders are in temp.
func processesIn(t *testing.T, temp string) int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ps", "-A", "-o", "args=").Output()
	require.NoError(t, err)
	count := 0
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, filepath.Join(temp, "controlplane-")) {
			count++
		}
	}
	return count
}

func entries(t *testing.T, folder string) []os.DirEntry {
	t.Helper()
	found, err := os.ReadDir(folder)
	require.NoError(t, err)
	return found
}

// dial says whether somebody listens at an https address.
func dial(host string) error {
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(host, "https://"), patience)
	if err != nil {
		return err
	}
	return conn.Close()
}
