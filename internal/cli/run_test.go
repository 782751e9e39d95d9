package cli_test

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/kargo-steps/publish-metadata/internal/document"
)

func TestFlagsThatDoNotGoTogether(t *testing.T) {
	for name, test := range map[string]struct {
		args    []string
		message string
	}{
		"no request":             {nil, "run: give the request by -f FILE or by --request-env NAME"},
		"two requests":           {[]string{"-f", "-", "--request-env", "A"}, "run: give the request by -f FILE or by --request-env NAME"},
		"in place of nothing":    {[]string{"-f", "-", "--in-place"}, "run: --in-place needs --stage-file"},
		"an unknown dry run":     {[]string{"-f", "-", "--dry-run", "server"}, "run: --dry-run takes client"},
		"a dry run that writes":  {[]string{"-f", "-", "--dry-run", "client", "--stage-file", "a", "--in-place"}, "run: --dry-run writes nothing: leave --in-place out"},
		"a dry run that reads":   {[]string{"-f", "-", "--dry-run", "client", "--stage-file", "a"}, "run: --dry-run=client reads no Stage: leave --stage-file out"},
		"an unknown format":      {[]string{"-f", "-", "-o", "xml"}, "run: --output takes json, yaml or text"},
		"a file and a cluster":   {[]string{"-f", "-", "--stage-file", "a", "--kubeconfig", "b"}, "run: --kubeconfig is about a cluster, and --stage-file uses none: leave one of them out"},
		"a dry run of a cluster": {[]string{"-f", "-", "--dry-run", "client", "--context", "b"}, "run: --context is about a cluster, and --dry-run=client uses none: leave one of them out"},
		"a token for a file":     {[]string{"-f", "-", "--stage-file", "a", "--token="}, "run: --token is about a cluster"},
		"no time":                {[]string{"-f", "-", "--timeout", "0s"}, "run: --timeout has to be more than 0"},
		"less than no time":      {[]string{"-f", "-", "--timeout", "-1s"}, "run: --timeout has to be more than 0"},
		"an unknown flag":        {[]string{"-f", "-", "--forse"}, "unknown flag: --forse"},
		"an argument":            {[]string{"-f", "-", "request.yaml"}, "unknown command"},
		"a time that is no time": {[]string{"-f", "-", "--timeout", "soon"}, "invalid argument"},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, requestText, test.args...)
			require.Equal(t, 2, got.code)
			require.Empty(t, got.out)
			require.True(t, strings.HasPrefix(got.err, "publish-metadata: "), got.err)
			require.Contains(t, got.err, test.message)
			require.Equal(t, 1, strings.Count(got.err, "\n"))
		})
	}
	got := execute(t, nil, nil, "rum")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.err, `unknown command "rum"`)
}

func TestWhereTheRequestComesFrom(t *testing.T) {
	dry := []string{"--dry-run=client", "-o", "json"}
	fromStdin := run(t, requestText, append(dry, "-f", "-")...)
	require.Equal(t, 0, fromStdin.code, fromStdin.err)
	require.Equal(t, fromStdin.out, run(t, "", append(dry, "-f", file(t, "request.yaml", requestText))...).out)
	require.Equal(t, fromStdin.out, execute(t, nil, map[string]string{"REQUEST": requestText}, append([]string{"run", "--request-env", "REQUEST"}, dry...)...).out)

	for name, test := range map[string]struct {
		args    []string
		message string
	}{
		"a variable that is not set": {[]string{"--request-env", "REQUEST"}, "request: the environment variable REQUEST is not set"},
		"a file that does not exist": {[]string{"-f", "/nowhere/request.yaml"}, "/nowhere/request.yaml: it cannot be read: no such file or directory"},
		"a folder":                   {[]string{"-f", t.TempDir()}, "it cannot be read: is a directory"},
	} {
		got := run(t, "", append(test.args, "-o", "json")...)
		require.Equal(t, 2, got.code, name)
		require.Contains(t, got.out, test.message)
		require.Contains(t, got.out, `"status": "Failed"`)
	}
	empty := execute(t, nil, map[string]string{"REQUEST": ""}, "run", "--request-env", "REQUEST", "--dry-run=client")
	require.Equal(t, 2, empty.code)
	require.Contains(t, empty.out, "empty")
}

func TestWhatIsPrinted(t *testing.T) {
	for _, format := range []string{"json", "yaml", "text"} {
		for name, test := range map[string]struct {
			request string
			code    int
			args    []string
		}{
			"done":    {requestText, 0, []string{"--stage-file", file(t, "stage.yaml", stageText)}},
			"written": {requestText, 0, []string{"--in-place", "--stage-file", file(t, "stage.yaml", stageText)}},
			"dry":     {requestText, 0, []string{"--dry-run=client"}},
			"failed":  {badText, 2, []string{"--dry-run=client"}},
		} {
			t.Run(name+" "+format, func(t *testing.T) {
				got := run(t, test.request, append(test.args, "-f", "-", "-o", format)...)
				require.Equal(t, test.code, got.code, got.err)
				golden(t, name+"."+format, got.out)
				require.NotContains(t, got.out, `\u0026`)
				if test.code == 0 {
					require.Contains(t, got.err, `level=WARN msg="example.com/x: unchecked, its schema accepts everything"`)
				}
				require.NotContains(t, got.out+got.err, "hunter2")
			})
		}
	}
}

func TestJSONAndYAMLSayTheSame(t *testing.T) {
	args := []string{"-f", "-", "--dry-run=client", "-o"}
	var fromJSON, fromYAML any
	require.NoError(t, json.Unmarshal([]byte(run(t, requestText, append(args, "json")...).out), &fromJSON))
	require.NoError(t, yaml.Unmarshal([]byte(run(t, requestText, append(args, "yaml")...).out), &fromYAML))
	require.Equal(t, fromJSON, fromYAML)
	require.Equal(t, map[string]any{
		"links":         map[string]any{"argocd": map[string]any{"url": "https://h.example.com/q?a=1&b=<2>", "label": "Argo & CD"}},
		"example.com/x": map[string]any{"a": map[string]any{"b": 1.0}},
	}, fromJSON.(map[string]any)["metadata"], "what is applied, without provenance")
}

func TestAnyCharacterCanBePrinted(t *testing.T) {
	odd := "\x7f\u009f\ufffe\uffff\u2028 = << NO"
	words := map[string]any{"a": odd, "b": "=", "c": "<<", "d": "1.10", "e": "NO", "f": "two\nlines", "g": "0o7"}
	request, err := json.Marshal(map[string]any{
		"context": map[string]any{"project": "demo", "stage": "test", "meta": map[string]any{"step": map[string]any{"alias": "publish"}}},
		"config":  map[string]any{"metadata": []any{map[string]any{"key": "example.com/x", "schema": map[string]any{}, "value": map[string]any{"a": words}}}},
	})
	require.NoError(t, err)
	for _, format := range []string{"json", "yaml", "text"} {
		got := run(t, string(request), "-f", "-", "--dry-run=client", "-o", format)
		require.Equal(t, 0, got.code, got.err)
		content := got.out
		if format == "text" {
			_, content, _ = strings.Cut(got.out, "\n")
		}
		tree, err := document.Parse([]byte(content))
		require.NoError(t, err, content)
		require.Equal(t, map[string]any{"example.com/x": map[string]any{"a": words}}, tree.(map[string]any)["metadata"])
		if format == "json" {
			continue
		}
		var legacy map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(content), &legacy))
		require.Equal(t, map[string]any{"example.com/x": map[string]any{"a": words}}, legacy["metadata"])
	}
	stage := file(t, "stage.yaml", stageText)
	got := run(t, string(request), "-f", "-", "--stage-file", stage, "-o", "yaml")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.out, `a: "\u007F\u009F\uFFFE\uFFFF\u2028 = << NO"`)
}

// endless is a stream that counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

func TestAnEndlessRequestIsNotReadToItsEnd(t *testing.T) {
	stdin := &endless{}
	got := execute(t, stdin, nil, "run", "-f", "-", "--dry-run=client", "-o", "json")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.out, "stdin: more than 4194304 bytes, the limit; send less")
	require.Less(t, stdin.read, 3*document.MaxBytes)
	sparse := file(t, "request.yaml", "")
	require.NoError(t, os.Truncate(sparse, 1<<40))
	for _, args := range [][]string{{"-f", sparse, "--dry-run=client"}, {"-f", "-", "--stage-file", sparse}} {
		got = run(t, requestText, args...)
		require.Equal(t, 2, got.code)
		require.Contains(t, got.out, sparse+": 1099511627776 bytes, more than the limit of 4194304; send less")
	}

	large := execute(t, nil, map[string]string{"REQUEST": strings.Repeat(" ", document.MaxBytes+1)}, "run", "--request-env", "REQUEST", "--dry-run=client")
	require.Equal(t, 2, large.code)
	require.Contains(t, large.out, "4194305 bytes, more than the limit")
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestAStreamThatBreaks(t *testing.T) {
	got := execute(t, broken{}, nil, "run", "-f", "-", "--dry-run=client")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.out, "stdin: it cannot be read: unexpected EOF")
}

func TestVersion(t *testing.T) {
	got := execute(t, nil, nil, "version")
	require.Equal(t, 0, got.code)
	require.Empty(t, got.err)
	require.Regexp(t, `^publish-metadata \S+\n$`, got.out)
	require.Equal(t, got, execute(t, nil, nil, "--version"))
	require.Equal(t, 2, execute(t, nil, nil, "version", "x").code)
}
