package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/internal/assets"
)

// explaining are the commands that ask any cluster. They are those of kubectl's plugin, too.
func explaining() []*cobra.Command {
	return []*cobra.Command{
		treeCommand(),
		whyCommand(),
		trailCommand(),
		previewCommand(),
		lintCommand(),
		uiCommand(),
		waitSettledCommand(),
	}
}

// pluginRoot is the command that the program is under the name kubectl-cascade.
func pluginRoot() *cobra.Command {
	c := rootOf(&cobra.Command{
		Use:         assets.Plugin,
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl cascade"},
		Short:       "Explain deletions: owners and dependents, what blocks them, previews, and problems",
	}, explaining()...)
	c.CompletionOptions.DisableDefaultCmd = true // kubectl's own completes the plugin, too
	return c
}

// asPlugin runs the program as kubectl's plugin. Its last arguments may be words to complete.
func asPlugin(args []string) { execute(pluginRoot(), args[1:]) }

// asPluginCompletion prints what completes the words, in cobra's form, as kubectl takes it.
func asPluginCompletion(args []string) {
	execute(pluginRoot(), append([]string{cobra.ShellCompRequestCmd}, args[1:]...))
}

// pluginCommand is "kubectl-plugin".
func pluginCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "kubectl-plugin",
		Short: "Make the links by which kubectl finds this program as its plugin cascade",
		Long: `Make or refresh two links to this program, kubectl-cascade and kubectl_complete-cascade, and print their
paths. With their directory in PATH, kubectl has the commands "kubectl cascade tree", "why", "trail",
"preview", "lint", "ui" and "wait-settled", and completes their arguments.`,
		RunE: func(c *cobra.Command, _ []string) error {
			program, err := calledPath()
			if err != nil {
				return err
			}
			paths, err := ensurePlugin(dir, program)
			if err != nil {
				return errUnable{fmt.Errorf("kubectl-plugin: %w", err)}
			}
			for _, p := range paths {
				if _, err := fmt.Fprintln(c.OutOrStdout(), p); err != nil {
					return err
				}
			}
			warnPath(c.ErrOrStderr(), paths)
			return nil
		},
	}
	c.Flags().StringVar(&dir, "dir", "",
		"directory of the links (default that of this program if it is writable, or else .local/bin in the home directory)")
	return c
}

// errTransient: links to a program that "go run" has built would soon lead nowhere.
var errTransient = errors.New("go run removes this program when it ends: build or install it first")

// calledPath is the path by which this program was called, or else that of its file. A link of a package manager stays
// valid when the file is replaced.
func calledPath() (string, error) {
	own, err := ownPath()
	if err != nil {
		return "", err
	}
	if isGoRun(own) {
		return "", errUnable{errTransient}
	}
	called, err := exec.LookPath(os.Args[0])
	if err == nil {
		called, err = filepath.Abs(called)
	}
	if err != nil || !same(called, own) {
		return own, nil
	}
	return called, nil
}

// same reports whether two paths lead to the same file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// ensurePlugin makes the links in dir, or by default in the first directory where that is possible.
func ensurePlugin(dir, program string) ([]string, error) {
	if dir != "" {
		dir, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		return assets.EnsurePlugin(dir, program)
	}
	paths, err := assets.EnsurePlugin(filepath.Dir(program), program)
	if err == nil || errors.Is(err, assets.ErrTaken) {
		return paths, err
	}
	home, homeErr := os.UserHomeDir()
	if homeErr != nil {
		return nil, errors.Join(err, homeErr)
	}
	paths, homeErr = assets.EnsurePlugin(filepath.Join(home, ".local", "bin"), program)
	if homeErr != nil {
		return nil, errors.Join(err, homeErr)
	}
	return paths, nil
}

// warnPath says why kubectl would not find the links.
func warnPath(w io.Writer, paths []string) {
	for _, p := range paths {
		found, err := exec.LookPath(filepath.Base(p))
		switch {
		case err != nil:
			fmt.Fprintf(w, "warning: %s is not in PATH, where kubectl looks for plugins\n", filepath.Dir(p))
			return
		case !same(found, p):
			fmt.Fprintf(w, "warning: kubectl finds another %s first: %s\n", filepath.Base(p), found)
		}
	}
}

// execute runs a command line until a signal, reports the error, and ends the process with the exit code.
func execute(c *cobra.Command, args []string) {
	c.SetArgs(args)
	ran, err := c.ExecuteContextC(context.Background())
	if err == nil {
		return
	}
	if ran.Context().Err() != nil && errors.Is(err, context.Canceled) {
		err = errInterrupted{errors.New("interrupted")}
	}
	report(ran, err)
	os.Exit(exitCode(err))
}
