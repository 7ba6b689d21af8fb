package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/controllers"
	"github.com/kubecascade/kubecascade/internal/assets"
)

// collecting has the controllers of --collector.
var collecting = []string{controllers.GarbageCollector, controllers.Namespaces}

func assetsCommand() *cobra.Command {
	var dir string
	var words []string
	var collector bool
	c := &cobra.Command{
		Use: "envtest-assets", Short: "Make the directory of binaries for envtest, and print its path",
		Long: "Make or refresh a directory with kube-apiserver and etcd, which are links to this program, and kubectl if " +
			"it is found, and print its path: export KUBEBUILDER_ASSETS=$(kubecascade envtest-assets)",
		RunE: func(c *cobra.Command, _ []string) error {
			if collector && c.Flags().Changed("controllers") {
				return errUsage{errors.New("--collector and --controllers are mutually exclusive")}
			}
			if collector {
				words = collecting
			}
			if _, _, err := controllers.Select(words); err != nil {
				return errUsage{err}
			}
			program, err := assets.Program()
			if err != nil {
				return err
			}
			kubectl, err := exec.LookPath("kubectl")
			if err == nil {
				kubectl, err = filepath.Abs(kubectl)
			}
			if err != nil {
				kubectl = ""
				fmt.Fprintln(c.ErrOrStderr(), "kubectl is not in PATH, so the directory has no link to it")
			}
			path, err := assets.Ensure(assets.Options{
				Dir: dir, Program: program, Version: version, Copy: assets.Transient(program), Kubectl: kubectl, Controllers: words,
			})
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), path)
			return err
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "directory to make (default one in the user's cache directory)")
	c.Flags().StringSliceVar(&words, "controllers", nil,
		"controllers that kube-apiserver runs, as in kubecascade serve (default none, as in kube-apiserver); "+
			assets.ControllersVariable+" in its environment replaces the list for one run")
	c.Flags().BoolVar(&collector, "collector", false,
		"run garbage-collector-controller and namespace-controller")
	return c
}
