package cli

import (
	"context"
	"errors"

	"github.com/kargo-steps/publish-metadata/internal/fault"
	"github.com/kargo-steps/publish-metadata/internal/publish/offline"
	"github.com/kargo-steps/publish-metadata/step"
)

// onStageFile publishes to the manifest of --stage-file, and reads it, decides and
// writes it again whenever somebody else has written it meanwhile.
func (o *runOptions) onStageFile(ctx context.Context, request step.Request) (printable, error) {
	for {
		printed, err := o.toManifest(ctx, request)
		if !errors.Is(err, errOvertaken) {
			return printed, err
		}
		if ctx.Err() != nil {
			return failure(fault.New(fault.Timeout, o.stageFile, "others kept changing it until the deadline passed: try again", ctx.Err()))
		}
	}
}

// toManifest publishes to the manifest as it is. The error is errOvertaken when the
// file has changed before it could be written.
func (o *runOptions) toManifest(ctx context.Context, request step.Request) (printable, error) {
	source, err := readFile(o.stageFile)
	if err != nil {
		return failure(err)
	}
	store, err := offline.Read(source)
	if err != nil {
		return failure(err)
	}
	// Nobody else writes to what is in memory.
	runner, err := step.NewRunner(store, step.WithSettle(0))
	if err != nil {
		return failure(err)
	}
	result, err := runner.Run(ctx, request)
	printed := printable{result: result, stage: store, err: err}
	if err != nil {
		return printed, err
	}
	if printed.manifest, err = store.Manifest(); err != nil {
		return failure(err)
	}
	if o.inPlace && store.Changed() {
		if err := o.write(ctx, source, printed.manifest); err != nil {
			return failure(err)
		}
	}
	return printed, nil
}

// write replaces the manifest's file.
func (o *runOptions) write(ctx context.Context, source, manifest []byte) error {
	err := replaceFile(ctx, o.stageFile, source, manifest)
	var failure *fault.Error
	if err == nil || errors.Is(err, errOvertaken) || errors.As(err, &failure) {
		return err
	}
	return fault.New(fault.Invalid, o.stageFile, "it cannot be written: "+reason(err), err)
}
