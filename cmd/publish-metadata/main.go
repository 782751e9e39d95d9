// Command publish-metadata publishes the outputs of a promotion's steps.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/kargo-steps/publish-metadata/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Execute(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.LookupEnv})
	stop()
	os.Exit(code)
}
