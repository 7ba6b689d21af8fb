package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// download returns the directory of a module in the module cache. The next minor's modules may require a newer Go than
// this one, which may be set to download no other: only their source is read here, so any Go will do.
func download(module string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Env = append(cmd.Environ(), "GOTOOLCHAIN=auto")
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if json.Unmarshal(out, &m) == nil && m.Error != "" {
		return "", fmt.Errorf("downloading %s: %s", module, m.Error)
	}
	if err != nil {
		return "", fmt.Errorf("downloading %s: %w", module, detailed(err))
	}
	return m.Dir, nil
}

// required returns the version of a module that go.mod selects.
func required(module string) (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("version of %s: %w", module, detailed(err))
	}
	return strings.TrimSpace(string(out)), nil
}

// detailed adds what a command wrote to stderr.
func detailed(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}

// minor is the number of the Kubernetes minor that a version of the modules is of: 37 for v0.37.2; 0 if it has none.
func minor(version string) int {
	parts := strings.Split(version, ".")
	if len(parts) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(parts[1])
	return n
}
