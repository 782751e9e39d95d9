package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// errOvertaken says that a file is not what it was when it was read.
var errOvertaken = errors.New("the file has changed since it was read")

// replaceFile replaces a file as a whole, so that a reader never sees half of it.
// It returns errOvertaken when the file does not have the content source any more:
// of runs that replace one file at once, none undoes what another did.
func replaceFile(ctx context.Context, name string, source, content []byte) error {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	temporary, err := writeBeside(target, content, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary) }() // it is there only after a failure
	unlock, err := lock(ctx, target)
	if err != nil {
		return err
	}
	defer unlock()
	switch found, err := readFile(target); {
	case err != nil:
		return err
	case !bytes.Equal(found, source):
		return errOvertaken
	}
	return os.Rename(temporary, target)
}

// writeBeside returns the name of a new file in the folder of target.
func writeBeside(target string, content []byte, mode fs.FileMode) (name string, err error) {
	temporary, err := os.CreateTemp(filepath.Dir(target), ".publish-metadata-*")
	if err != nil {
		return "", err
	}
	_, err = temporary.Write(content)
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(temporary.Name(), mode)
	}
	if err != nil {
		_ = os.Remove(temporary.Name()) // the first failure is what is told
		return "", fmt.Errorf("write %s: %w", temporary.Name(), err)
	}
	return temporary.Name(), nil
}

const (
	lockPause = 2 * time.Millisecond
	// lockStale is when a lock is taken for left behind: it is held for a
	// comparison and a rename, which take milliseconds.
	lockStale = 10 * time.Second
)

// lock creates the lock file beside target and returns what removes it. It waits
// while another run has it, until ctx ends.
func lock(ctx context.Context, target string) (unlock func(), err error) {
	name := filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+".lock")
	for {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		switch {
		case err == nil:
			_ = file.Close()
			return func() { _ = os.Remove(name) }, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}
		breakStale(name)
		select {
		case <-ctx.Done():
			return nil, fault.New(fault.Timeout, name, "another run holds it: try again, or remove it if there is none", ctx.Err())
		case <-time.After(lockPause):
		}
	}
}

// breakStale removes a lock that was left behind. It is moved away first, so that
// of runs that find it at once only one does so, and put back if it is one that
// another run has created in that instant.
func breakStale(name string) {
	found, err := os.Lstat(name)
	if err != nil || time.Since(found.ModTime()) < lockStale {
		return
	}
	aside := fmt.Sprintf("%s.%d", name, os.Getpid())
	if os.Rename(name, aside) != nil {
		return
	}
	if moved, err := os.Lstat(aside); err == nil && !os.SameFile(found, moved) {
		_ = os.Link(aside, name) // fails if a third run has created one
	}
	_ = os.Remove(aside)
}
