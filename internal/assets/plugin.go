package assets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Plugin and PluginCompletion are the names by which kubectl finds the program as its plugin "cascade", and what
// completes the plugin's arguments (K kubectl/pkg/cmd/plugin/plugin_completion.go: lookupCompletionExec).
const (
	Plugin           = "kubectl-cascade"
	PluginCompletion = "kubectl_complete-cascade"
)

// ErrTaken: a file that Ensure or EnsurePlugin has not made has the name of a link.
var ErrTaken = errors.New("it is not a link: another program has the name")

// EnsurePlugin makes or refreshes the two links in dir to the program, which is an absolute path, and returns their
// paths. It makes the directory if need be.
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
