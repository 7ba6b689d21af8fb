package envtest

import (
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS is required: make e2e SUITE=envtest")
		os.Exit(2)
	}
	os.Exit(m.Run())
}
