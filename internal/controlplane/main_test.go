//go:build integration

package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/kargo-steps/publish-metadata/internal/controlplane"
)

// helperVariable turns this test binary into a process that only holds a Server.
const helperVariable = "CONTROLPLANE_TEST_HELPER"

var server *controlplane.Server

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) != "" {
		hold()
	}
	controlplane.Main(m, func(s *controlplane.Server) { server = s })
}

// hold starts a Server, says where it is, and waits to be killed.
func hold() {
	s, err := controlplane.Start(context.Background()) //nolint:forbidigo // a main of its own, outside any test
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.AdminConfig().Host)
	time.Sleep(10 * time.Minute)
	os.Exit(1)
}
