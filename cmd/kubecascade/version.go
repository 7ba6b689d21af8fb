package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade/apiserver"
)

// version is kubecascade's version; releases set it with -ldflags "-X main.version=...".
var version = "0.1.0-dev"

// kubernetesVersion is the release whose behaviour is reproduced.
const kubernetesVersion = "1.36.3"

// build has the build information of the binary.
func build() (commit, date, state string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", "", ""
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.time":
			date = s.Value
		case "vcs.modified":
			if state = "clean"; s.Value == "true" {
				state = "dirty"
			}
		}
	}
	return commit, date, state
}

// apiVersion is the response of /version: the Kubernetes release, by which clients determine their skew, with this
// program after the plus sign.
func apiVersion() apiserver.Version {
	commit, date, state := build()
	v := strings.Split(kubernetesVersion, ".")
	return apiserver.Version{
		Major: v[0], Minor: v[1], GitVersion: "v" + kubernetesVersion + "+kubecascade-" + version,
		GitCommit: commit, GitTreeState: state, BuildDate: date,
		GoVersion: runtime.Version(), Compiler: runtime.Compiler, Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
}

func versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(c *cobra.Command, _ []string) error {
			commit, _, _ := build()
			switch output {
			case "":
				fmt.Fprintf(c.OutOrStdout(), "kubecascade %s (Kubernetes %s, %s)\n", version, kubernetesVersion, runtime.Version())
				return nil
			case "json":
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				facts := map[string]string{"version": version, "kubernetes": kubernetesVersion,
					"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
				if commit != "" { // go run and source archives have none
					facts["commit"] = commit
				}
				return e.Encode(facts)
			}
			return errUsage{fmt.Errorf("--output %q is not json", output)}
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "output format: json, or empty for one line")
	return c
}
