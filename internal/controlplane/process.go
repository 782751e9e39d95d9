package controlplane

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// supervise is run by sh rather than replaced by Pdeathsig, which only Linux
// has and which follows the thread, not the process, that started the child.
//
//go:embed supervise.sh
var supervise string

// logTailBytes is how much of a log an error shows.
const logTailBytes = 4 << 10

// process is a command that does not outlive this process.
type process struct {
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	// ended is closed when the command has ended, by kill or by itself.
	ended chan struct{}
	log   string
	// logStart is where this process's part of the log begins.
	logStart int64
	killOnce sync.Once
	killErr  error
}

// startProcess runs a command in folder; its output is appended to
// folder/<name>.log. It gets no environment but PATH: ETCD_* variables would
// override flags.
func startProcess(folder, name string, argv ...string) (*process, error) {
	p := &process{name: name, ended: make(chan struct{}), log: filepath.Join(folder, name+".log")}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("%s: failed to open its log: %w", name, err)
	}
	defer func() { _ = log.Close() }() // the process has its own
	if p.logStart, err = log.Seek(0, io.SeekEnd); err != nil {
		return nil, fmt.Errorf("%s: failed to find the end of its log: %w", name, err)
	}
	alive, inherited, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%s: failed to open a pipe: %w", name, err)
	}
	defer func() { _ = inherited.Close() }() // the process has its own
	p.cmd = exec.Command("sh", append([]string{"-c", supervise, name, folder}, argv...)...)
	p.cmd.Dir = folder
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.ExtraFiles = []*os.File{inherited}
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: failed to start: %w", name, err), alive.Close())
	}
	go func() {
		defer close(p.ended)
		_, _ = io.Copy(io.Discard, alive) // its end is all that it says
		_ = alive.Close()
	}()
	return p, nil
}

// kill ends the command without giving it time to shut down, and waits until it
// is gone. It may be called more than once.
func (p *process) kill() error {
	p.killOnce.Do(func() {
		_, err := io.WriteString(p.stdin, "stop\n")
		if closeErr := p.stdin.Close(); err == nil {
			err = closeErr
		}
		_ = p.cmd.Wait() // the supervisor's status says nothing
		<-p.ended
		if err != nil {
			p.killErr = fmt.Errorf("%s: failed to stop: %w", p.name, err)
		}
	})
	return p.killErr
}

// logTail returns the end of what the process wrote, "" if it wrote nothing.
func (p *process) logTail() string {
	log, err := os.Open(p.log)
	if err != nil {
		return ""
	}
	defer func() { _ = log.Close() }() // only read
	end, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	from := max(p.logStart, end-logTailBytes)
	tail := make([]byte, end-from)
	n, _ := log.ReadAt(tail, from)
	return string(tail[:n])
}

// failed returns err with the end of the process's log.
func (p *process) failed(err error) error {
	return fmt.Errorf("%s: %w; the end of its log:\n%s", p.name, err, p.logTail())
}
