package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// read returns the request document.
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

// readFile returns the content of a file, of at most document.MaxBytes.
func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer func() { _ = file.Close() }() // only read
	if info, err := file.Stat(); err == nil && info.Size() > document.MaxBytes {
		return nil, tooLarge(name, fmt.Sprintf("%d bytes, more than the limit of %d", info.Size(), document.MaxBytes))
	}
	return readAll(file, name)
}

// readAll reads no further than one byte past the limit.
func readAll(from io.Reader, name string) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(from, document.MaxBytes+1))
	switch {
	case err != nil:
		return nil, unreadable(name, err)
	case len(content) > document.MaxBytes:
		return nil, tooLarge(name, fmt.Sprintf("more than %d bytes, the limit", document.MaxBytes))
	}
	return content, nil
}

func unreadable(name string, err error) error {
	return fault.New(fault.Invalid, name, "it cannot be read: "+reason(err), err)
}

func tooLarge(name, size string) error {
	return fault.New(fault.TooLarge, name, size+"; send less", nil)
}

// reason returns why a file operation failed, without repeating the file's name.
func reason(err error) string {
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		err = cause
	}
	return err.Error()
}
