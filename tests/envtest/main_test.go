package envtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// run builds the server from the module around this one, has it make the directory of binaries, and runs the tests.
func run(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "kubecascade-envtest-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "kubecascade")
	c := exec.Command("go", "build", "-C", filepath.Join("..", ".."), "-o", binary, "./cmd/kubecascade")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return 1, err
	}
	out, err := exec.Command(binary, "envtest-assets", "--dir", filepath.Join(dir, "assets")).Output()
	if err != nil {
		return 1, err
	}
	if err := os.Setenv("KUBEBUILDER_ASSETS", strings.TrimSuffix(string(out), "\n")); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
