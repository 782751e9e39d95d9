package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
)

// read returns the request document, and at most one byte more than its limit.
func (o *runOptions) read() ([]byte, error) {
	switch {
	case o.requestEnv != "":
		text, set := o.streams.Getenv(o.requestEnv)
		if !set {
			return nil, fault.New(fault.Invalid, "request", "the environment variable "+o.requestEnv+" is not set", nil)
		}
		return []byte(text), nil
	case o.file == "-":
		return readAll(o.streams.In, "stdin")
	}
	return readFile(o.file)
}

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fault.New(fault.Invalid, name, "it cannot be read: "+reason(err), err)
	}
	defer func() { _ = file.Close() }() // only read
	return readAll(file, name)
}

func readAll(from io.Reader, name string) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, document.MaxBytes+1))
	if err != nil {
		return nil, fault.New(fault.Invalid, name, "it cannot be read: "+reason(err), err)
	}
	return content, nil
}

// reason returns why a file operation failed, without repeating the file's name.
func reason(err error) string {
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		err = cause
	}
	return err.Error()
}

// writeManifest replaces the file as a whole, so that a reader never sees half of
// it; an unchanged manifest is not written.
func writeManifest(name string, store *offline.Store) error {
	if !store.Changed() {
		return nil
	}
	content, err := store.Manifest()
	if err == nil {
		err = replaceFile(name, content)
	}
	if err != nil {
		return fault.New(fault.Invalid, name, "it cannot be written: "+reason(err), err)
	}
	return nil
}

func replaceFile(name string, content []byte) error {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	info, err := os.Stat(target)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(target), ".publish-metadata-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // it is there only after a failure
	_, err = io.Copy(temporary, bytes.NewReader(content))
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(temporary.Name(), info.Mode().Perm())
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", temporary.Name(), err)
	}
	return os.Rename(temporary.Name(), target)
}
