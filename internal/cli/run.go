package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
	"github.com/kargo-steps/publish-metadata/step"
)

// runOptions are the flags of run.
type runOptions struct {
	streams    Streams
	file       string
	requestEnv string
	stageFile  string
	inPlace    bool
	dryRun     string
	output     string
	timeout    time.Duration
	cluster    clusterOptions
}

const runExample = `  # Publish what a request asks for to the cluster of the current kubeconfig.
  publish-metadata run -f request.yaml

  # Show what a request would publish, without a cluster or a Stage.
  publish-metadata run -f request.yaml --dry-run=client -o yaml

  # Publish to a Stage manifest, and print the Stage.
  publish-metadata run -f request.yaml --stage-file stage.yaml

  # Take the request from an environment variable.
  publish-metadata run --request-env REQUEST`

func newRun(streams Streams) *cobra.Command {
	options := runOptions{streams: streams}
	command := &cobra.Command{
		Use:   "run (-f FILE | --request-env NAME)",
		Short: "Publish what a request asks for",
		Long: `Publish what a request asks for, to a cluster or to a Stage manifest.

A request is a JSON or YAML document {context, outputs, config}: Kargo's ctx and
outputs objects, and the step's configuration. The result is printed on stdout.
The exit code is 0 when the outcome is Succeeded, 1 when it is Errored (a retry
may help), 2 when it is Failed (a retry cannot help) or the command is misused.`,
		Example: runExample,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := options.validate(); err != nil {
				return err
			}
			return options.run(command.Context())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&options.file, "filename", "f", "", "file of the request; - is stdin")
	flags.StringVar(&options.requestEnv, "request-env", "", "environment variable that holds the request")
	flags.StringVar(&options.stageFile, "stage-file", "", "Stage (or Freight) manifest to publish to instead of a cluster; it is printed as it would be")
	flags.BoolVar(&options.inPlace, "in-place", false, "write the manifest of --stage-file instead of printing it")
	flags.StringVar(&options.dryRun, "dry-run", "", "client: show what would be published, without a cluster or a Stage")
	flags.StringVarP(&options.output, "output", "o", "text", "format of the result: json, yaml or text")
	flags.DurationVar(&options.timeout, "timeout", 30*time.Second, "deadline of the whole run")
	options.cluster.bind(flags)
	return command
}

// validate refuses flags that do not go together.
func (o *runOptions) validate() error {
	misuse := func(message string) error { return fault.New(fault.Invalid, "run", message, nil) }
	switch {
	case (o.file == "") == (o.requestEnv == ""):
		return misuse("give the request by -f FILE or by --request-env NAME")
	case o.inPlace && o.stageFile == "":
		return misuse("--in-place needs --stage-file")
	case o.dryRun != "" && o.dryRun != "client":
		return misuse("--dry-run takes client")
	case o.dryRun != "" && o.inPlace:
		return misuse("--dry-run writes nothing: leave --in-place out")
	case o.dryRun != "" && o.stageFile != "":
		return misuse("--dry-run=client reads no Stage: leave --stage-file out")
	case o.output != "json" && o.output != "yaml" && o.output != "text":
		return misuse("--output takes json, yaml or text")
	case o.timeout <= 0:
		return misuse("--timeout has to be more than 0")
	}
	return nil
}

// run reads the request, publishes it, and prints the result.
func (o *runOptions) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	printed, err := o.result(ctx)
	var failure error
	if err != nil {
		failure = errReported{printed.result.Status}
	}
	for _, warning := range warnings(printed.result) {
		slog.New(slog.NewTextHandler(o.streams.Err, nil)).Warn(warning)
	}
	if err := o.print(printed); err != nil {
		return err
	}
	return failure
}

// printable is what a run has to print.
type printable struct {
	result step.Result
	// metadata is what a dry run shows.
	metadata map[string]any
	stage    *offline.Store
	err      error
}

func (o *runOptions) result(ctx context.Context) (printable, error) {
	source, err := o.read()
	if err != nil {
		return failure(err)
	}
	request, err := step.ParseRequest(source)
	if err != nil {
		return failure(err)
	}
	if o.dryRun == "client" {
		runner, err := step.NewRunner(nil)
		if err != nil {
			return failure(err)
		}
		result, metadata, err := runner.Preview(ctx, request)
		return printable{result: result, metadata: metadata, err: err}, err
	}
	client, stage, err := o.client()
	if err != nil {
		return failure(err)
	}
	runner, err := step.NewRunner(client, o.settle()...)
	if err != nil {
		return failure(err)
	}
	result, err := runner.Run(ctx, request)
	if err == nil && o.inPlace {
		if err := writeManifest(o.stageFile, stage); err != nil {
			return failure(err)
		}
	}
	return printable{result: result, stage: stage, err: err}, err
}

func failure(err error) (printable, error) {
	return printable{result: step.FailedResult(err), err: err}, err
}

// client returns the client that the flags ask for; the Store too when it is a file.
func (o *runOptions) client() (step.Client, *offline.Store, error) {
	if o.stageFile == "" {
		client, err := o.cluster.client()
		return client, nil, err
	}
	source, err := readFile(o.stageFile)
	if err != nil {
		return nil, nil, err
	}
	store, err := offline.Read(source)
	return store, store, err
}

// settle returns the option for a manifest, to which nobody else writes.
func (o *runOptions) settle() []step.Option {
	if o.stageFile == "" {
		return nil
	}
	return []step.Option{step.WithSettle(0)}
}
