package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// Binary is the path of the server under test: $KUBECASCADE_BINARY, or the binary that Run builds.
var Binary = os.Getenv("KUBECASCADE_BINARY")

// Run builds the server, unless $KUBECASCADE_BINARY is set, and runs the tests. prepare, which may be nil, prepares
// other files in a directory that is removed at the end. Run returns the exit code.
func Run(m *testing.M, prepare func(dir string) error) int {
	code, err := run(m, prepare)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

func run(m *testing.M, prepare func(dir string) error) (code int, err error) {
	dir, err := os.MkdirTemp("", "kubecascade-tests-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if Binary == "" {
		Binary = filepath.Join(dir, "kubecascade")
		if err := Build(".", "./cmd/kubecascade", Binary); err != nil {
			return 1, err
		}
	}
	if prepare != nil {
		if err := prepare(dir); err != nil {
			return 1, err
		}
	}
	code = m.Run()
	for _, s := range shared {
		err = errors.Join(err, s.Stop())
	}
	return code, err
}

// Build builds a package of the module in a directory of the repository. It uses the race detector if the test does.
func Build(dir, pkg, to string) error {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/kubecascade/kubecascade").Output()
	if err != nil {
		return fmt.Errorf("finding the repository: %w", err)
	}
	args := []string{"build", "-C", filepath.Join(strings.TrimSpace(string(root)), dir), "-o", to}
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	c := exec.Command("go", append(args, pkg)...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}
