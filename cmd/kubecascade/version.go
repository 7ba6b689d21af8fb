package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/kubecascade/kubecascade"
)

// version is kubecascade's version; releases set it with -ldflags "-X main.version=...".
var version = "0.1.0-dev"

func versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "version", Short: "Print the version",
		RunE: func(c *cobra.Command, _ []string) error {
			commit := kubecascade.Commit()
			switch output {
			case "":
				fmt.Fprintf(c.OutOrStdout(), "kubecascade %s (Kubernetes %s, %s)\n", version, kubecascade.KubernetesVersion, runtime.Version())
				return nil
			case "json":
				e := json.NewEncoder(c.OutOrStdout())
				e.SetIndent("", "  ")
				facts := map[string]string{"version": version, "kubernetes": kubecascade.KubernetesVersion,
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
