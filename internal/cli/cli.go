// Package cli is the command's door: it turns flags and files into requests, and
// results into text and exit codes.
//
// In: arguments and streams. Out: the result alone on stdout, logs on stderr, and
// an exit code: 0 done, 1 a retry may help, 2 a retry cannot help.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/step"
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Getenv returns an environment variable, and whether it is set.
	Getenv func(string) (string, bool)
}

// The exit codes.
const (
	exitDone = iota
	exitErrored
	exitFailed
)

// errReported is an error that the result on stdout has told already.
type errReported struct{ outcome step.Outcome }

func (e errReported) Error() string { return string(e.outcome) }

// Execute runs the command that args name and returns its exit code.
func Execute(ctx context.Context, args []string, streams Streams) int {
	command := NewCommand(streams)
	command.SetArgs(args)
	err := command.ExecuteContext(ctx)
	var reported errReported
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &reported):
		return exitCode(reported.outcome)
	}
	fmt.Fprintf(streams.Err, "publish-metadata: %s\n", err)
	var failure *step.Error
	if errors.As(err, &failure) && fault.KindOf(err).Retryable() {
		return exitErrored
	}
	return exitFailed
}

func exitCode(outcome step.Outcome) int {
	switch outcome {
	case step.Succeeded:
		return exitDone
	case step.Errored:
		return exitErrored
	}
	return exitFailed
}

// NewCommand returns the root command.
func NewCommand(streams Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "publish-metadata",
		Short: "Publish the outputs of a Kargo promotion's steps as Stage metadata",
		Long: `publish-metadata copies or transforms the outputs of a Kargo promotion's steps
into Stage.status.metadata.<key>: a place and a shape that do not depend on the
producer, checked against a JSON Schema, safe beside other producers, and still
there afterwards.`,
		Version:           buildVersion(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	root.SetVersionTemplate("publish-metadata {{.Version}}\n")
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.AddCommand(newRun(streams), newServe(streams), newVersion(streams))
	return root
}
