package cli

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	// clusterFlags are those of cluster alone.
	clusterFlags pflag.FlagSet
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
	options.cluster.bind(&options.clusterFlags)
	flags.AddFlagSet(&options.clusterFlags)
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
	for _, offline := range []struct{ flag, value string }{{"--stage-file", o.stageFile}, {"--dry-run=client", o.dryRun}} {
		if flag := o.clusterFlag(); flag != "" && offline.value != "" {
			return misuse("--" + flag + " is about a cluster, and " + offline.flag + " uses none: leave one of them out")
		}
	}
	return nil
}

// clusterFlag returns the name of a flag about the cluster that is given, or "".
func (o *runOptions) clusterFlag() string {
	given := ""
	o.clusterFlags.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && given == "" {
			given = flag.Name
		}
	})
	return given
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
	// manifest is the Stage's, as it would be.
	manifest []byte
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
	switch {
	case o.dryRun == "client":
		return preview(ctx, request)
	case o.stageFile != "":
		return o.onStageFile(ctx, request)
	}
	client, err := o.cluster.client()
	if err != nil {
		return failure(err)
	}
	runner, err := step.NewRunner(client)
	if err != nil {
		return failure(err)
	}
	result, err := runner.Run(ctx, request)
	return printable{result: result, err: err}, err
}

func preview(ctx context.Context, request step.Request) (printable, error) {
	runner, err := step.NewRunner(nil)
	if err != nil {
		return failure(err)
	}
	result, metadata, err := runner.Preview(ctx, request)
	return printable{result: result, metadata: metadata, err: err}, err
}

func failure(err error) (printable, error) {
	return printable{result: step.FailedResult(err), err: err}, err
}
