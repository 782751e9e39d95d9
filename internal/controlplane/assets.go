package controlplane

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	modulePath = "github.com/kargo-steps/publish-metadata"

	// The CRDs are those of this version of Kargo. kargoSum is its checksum as
	// go.sum would have it: the module is not required, so no go.sum holds it.
	kargoModule  = "github.com/akuity/kargo"
	kargoVersion = "v1.11.2"
	kargoSum     = "h1:n9qTrpkZxtlzu7eJa509XPZbsIMAYoT0qIvTiMjMTKI="
)

// binaries are the paths of the two programs.
type binaries struct {
	etcd, apiserver string
}

// findBinaries looks in KUBEBUILDER_ASSETS when it is set, else in the
// repository's cache.
func findBinaries() (binaries, error) {
	folder := os.Getenv("KUBEBUILDER_ASSETS")
	advice := "KUBEBUILDER_ASSETS must name a folder with etcd and kube-apiserver"
	if folder == "" {
		root, err := repositoryRoot()
		if err != nil {
			return binaries{}, err
		}
		folder = filepath.Join(root, ".cache", "controlplane")
		advice = "run `make controlplane`"
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return binaries{}, fmt.Errorf("control plane: failed to resolve its folder: %w", err)
	}
	found := binaries{etcd: filepath.Join(folder, "etcd"), apiserver: filepath.Join(folder, "kube-apiserver")}
	for _, path := range []string{found.etcd, found.apiserver} {
		if _, err := os.Stat(path); err != nil {
			return binaries{}, fmt.Errorf("control plane: no %s: %s: %w", filepath.Base(path), advice, err)
		}
	}
	return found, nil
}

// repositoryRoot returns the nearest folder above with this module's go.mod;
// the go.mod files of nested modules are passed by.
func repositoryRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("repository: failed to find the working folder: %w", err)
	}
	for {
		mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err == nil {
			scanner := bufio.NewScanner(bytes.NewReader(mod))
			for scanner.Scan() {
				if strings.TrimSpace(scanner.Text()) == "module "+modulePath {
					return folder, nil
				}
			}
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return "", errors.New("repository: no go.mod of " + modulePath + " above the working folder: run the tests inside the repository")
		}
		folder = parent
	}
}

// crdFiles returns the paths of Kargo's CRDs in the module cache, downloading
// the module if it is not there. It runs in folder, which lies in no module, so
// that no go.mod or go.sum is read or written.
func crdFiles(ctx context.Context, folder string) ([]string, error) {
	subject := kargoModule + "@" + kargoVersion
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", subject)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	var module struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &module); err == nil {
		err = jsonErr
	}
	if err != nil {
		return nil, fmt.Errorf("%s: failed to download: %s: %w", subject, module.Error, err)
	}
	if module.Sum != kargoSum {
		return nil, fmt.Errorf("%s: its checksum is %s, expected %s", subject, module.Sum, kargoSum)
	}
	files, err := filepath.Glob(filepath.Join(module.Dir, "charts", "kargo", "resources", "crds", "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("%s: failed to list its CRDs: %w", subject, err)
	}
	if len(files) == 0 {
		return nil, errors.New(subject + ": it has no CRDs where they are expected")
	}
	return files, nil
}
