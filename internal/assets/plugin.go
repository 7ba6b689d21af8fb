package assets

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Plugin is the name by which kubectl finds the program as its plugin "cascade", and PluginCompletion the name of the
// program that completes the plugin's arguments (K kubectl/pkg/cmd/plugin/plugin_completion.go: lookupCompletionExec).
const (
	Plugin           = "kubectl-cascade"
	PluginCompletion = "kubectl_complete-cascade"
)

// ErrTaken reports that a file with the name of a link was not made by Ensure or EnsurePlugin.
var ErrTaken = errors.New("it is not a link: another program has the name")

// EnsurePlugin makes or refreshes the two links in dir to the program, which is an absolute path, and returns their
// paths. It makes the directory if necessary.
func EnsurePlugin(dir, program string) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the directory: %w", err)
	}
	for _, name := range []string{Plugin, PluginCompletion} {
		path := filepath.Join(dir, name+extension)
		if !replaceable(path) {
			return nil, fmt.Errorf("%s: %w", path, ErrTaken)
		}
		if err := ensureLink(path, targetIn(dir, program)); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// InstallPlugin makes the links in dir, or if that is empty in the first possible directory: the program's, or
// .local/bin in the home directory.
func InstallPlugin(dir, program string) ([]string, error) {
	if dir != "" {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		return EnsurePlugin(dir, program)
	}
	paths, err := EnsurePlugin(filepath.Dir(program), program)
	if err == nil || errors.Is(err, ErrTaken) {
		return paths, err
	}
	home, homeErr := os.UserHomeDir()
	if homeErr != nil {
		return nil, errors.Join(err, homeErr)
	}
	paths, homeErr = EnsurePlugin(filepath.Join(home, ".local", "bin"), program)
	if homeErr != nil {
		return nil, errors.Join(err, homeErr)
	}
	return paths, nil
}

// PathWarnings returns the reasons why kubectl would not find the links.
func PathWarnings(paths []string) (warnings []string) {
	for _, p := range paths {
		found, err := exec.LookPath(filepath.Base(p))
		switch {
		case err != nil:
			return append(warnings, filepath.Dir(p)+" is not in PATH, where kubectl looks for plugins")
		case !same(found, p):
			warnings = append(warnings, "kubectl finds another "+filepath.Base(p)+" first: "+found)
		}
	}
	return warnings
}
