package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"time"

	"github.com/kargo-steps/publish-metadata/internal/document"
	"github.com/kargo-steps/publish-metadata/internal/fault"
)

// maxDrained is how much of a body that is too large is still taken, so that its
// sender comes to read the answer.
const maxDrained = 8 << 20

// acceptable refuses a body that says it is something else than JSON. Kargo's
// http step sends no Content-Type by itself, so that none is JSON.
func acceptable(header http.Header) error {
	if coding := header.Get("Content-Encoding"); coding != "" && coding != "identity" {
		return classUnsupported.refuse("body", "it is encoded: leave the header Content-Encoding out")
	}
	if header.Get("Content-Type") == "" {
		return nil
	}
	if media, _, err := mime.ParseMediaType(header.Get("Content-Type")); err != nil || media != "application/json" {
		return classUnsupported.refuse("body", "its Content-Type is not application/json: set the header Content-Type: application/json")
	}
	return nil
}

// read returns the body, at most maxBody bytes, before ctx ends.
func read(ctx context.Context, w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	if deadline, limited := ctx.Deadline(); limited {
		_ = control.SetReadDeadline(deadline) // not every ResponseWriter can; ReadTimeout bounds it then
	}
	content, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err == nil && len(content) > maxBody {
		_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // only to be heard
		return nil, fault.New(fault.TooLarge, "body", fmt.Sprintf(
			"more than the limit of %d bytes: send the outputs that are used alone, as in outputs: \"${{ {deploy: outputs.deploy} }}\"", maxBody), nil)
	}
	if err != nil {
		return nil, unread(ctx, err)
	}
	_ = control.SetReadDeadline(time.Time{}) // else it would end the request's context
	return content, nil
}

func unread(ctx context.Context, err error) error {
	var timeout interface{ Timeout() bool }
	if ctx.Err() != nil || errors.As(err, &timeout) && timeout.Timeout() {
		return classSlow.refuse("body", "it did not arrive in time: try again")
	}
	return classMalformed.refuse("body", "it broke off, or its chunks are malformed: send it whole")
}

// accidents are what a body looks like when its template quotes it wrongly.
var accidents = []struct {
	begins  *regexp.Regexp
	message string
}{
	{
		regexp.MustCompile(`^\s*["'](\s|\\[nrt])*\{`),
		"the whole body is wrapped in quotes: it is a text that holds JSON, as from quote() of a text, or quotes around ${{ }}",
	},
	{
		regexp.MustCompile(`^\s*\{(\s|\\[nrt])*\\+"`),
		"its quotes are escaped with backslashes, as from quote() of a text inside a text",
	},
	{
		regexp.MustCompile(`^\s*map\[`),
		"it is the text of a map, not JSON, as from ${{ }} without quote()",
	},
}

// quoting says how a template writes the body.
const quoting = `: call quote() once, on the object itself: body: ${{ quote({"context": ctx, "outputs": outputs, "metadata": vars.metadata }) }}`

// parse returns the tree of a body, which is exactly one JSON value.
func parse(content []byte) (any, error) {
	for _, accident := range accidents {
		if accident.begins.Match(content) {
			return nil, classMalformed.refuse("body", accident.message+quoting)
		}
	}
	tree, err := document.ParseJSON(content)
	var failure *fault.Error
	if !errors.As(err, &failure) {
		return tree, err
	}
	about := *failure
	about.Subject = "body"
	if about.Kind == fault.Invalid {
		return nil, classMalformed.of(&about)
	}
	return nil, &about
}
