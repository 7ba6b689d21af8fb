package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/apiserver"
)

// unreleased is the version of binaries that were built from a checkout without a version.
const unreleased = "0.1.0-dev"

// version is kubecascade's version without a leading v. Releases set it with -ldflags "-X main.version=v1.2.3"; a
// binary of go install has its module's version.
var version = unreleased

func init() {
	if info, ok := debug.ReadBuildInfo(); ok {
		version = versionOf(version, info)
	}
}

// versionOf returns the version that was set by the linker, or that of the main module if go install has built it from
// the module cache. The go command also derives a module version from a checkout; it isn't used, because there the
// checkout's commit and state are known.
func versionOf(stamped string, info *debug.BuildInfo) string {
	installed := info.Main.Version
	if stamped == unreleased && installed != "" && installed != "(devel)" && !apiserver.BuildOf(info).Checkout {
		stamped = installed
	}
	return strings.TrimPrefix(stamped, "v")
}

// versions is the output of "version -o". The fields have the names of Kubernetes' version.Info, as in "kubectl version
// -o json"; those that aren't known are missing.
type versions struct {
	// GitVersion is kubecascade's version, with a leading v.
	GitVersion string `json:"gitVersion"`
	// GitCommit, GitTreeState and BuildDate are the commit, whether the checkout had other changes ("clean" or
	// "dirty"), and the time of the commit. Only binaries that were built from a checkout have them.
	GitCommit    string `json:"gitCommit,omitempty"`
	GitTreeState string `json:"gitTreeState,omitempty"`
	BuildDate    string `json:"buildDate,omitempty"`
	GoVersion    string `json:"goVersion"`
	Compiler     string `json:"compiler"`
	// Platform is the operating system and the architecture, such as linux/amd64.
	Platform string `json:"platform"`
	// KubernetesVersion is the Kubernetes release whose behavior the server reproduces, with a leading v.
	KubernetesVersion string `json:"kubernetesVersion"`
}

func versionsOf(version string, info *debug.BuildInfo) versions {
	v := versions{
		GitVersion: "v" + version, GoVersion: runtime.Version(), Compiler: runtime.Compiler,
		Platform: runtime.GOOS + "/" + runtime.GOARCH, KubernetesVersion: "v" + kubecascade.KubernetesVersion,
	}
	b := apiserver.BuildOf(info)
	v.GitCommit, v.GitTreeState, v.BuildDate = b.Commit, b.State, b.Date
	return v
}

func ownVersions() versions {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionsOf(version, info)
}

// String returns the versions on one line.
func (v versions) String() string {
	commit := ""
	if v.GitCommit != "" {
		commit = "commit " + v.GitCommit[:min(len(v.GitCommit), 12)]
		if v.GitTreeState == "dirty" {
			commit += " with changes"
		}
		commit += ", "
	}
	return fmt.Sprintf("kubecascade %s (%sKubernetes %s, %s, %s)",
		strings.TrimPrefix(v.GitVersion, "v"), commit, strings.TrimPrefix(v.KubernetesVersion, "v"), v.GoVersion, v.Platform)
}

// versionFormats are the values of "version -o".
var versionFormats = []string{"json", "yaml"}

func versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "version", Short: "Print the version",
		Long: "Print the versions of kubecascade, of the Kubernetes release that it reproduces, and of Go, with the " +
			"commit and the platform.",
		RunE: func(c *cobra.Command, _ []string) error { return ownVersions().write(c.OutOrStdout(), output) },
	}
	c.Flags().StringVarP(&output, "output", "o", "", "output format: json or yaml, or empty for one line")
	return c
}

// write writes the versions in the format, or as a line without one.
func (v versions) write(w io.Writer, format string) error {
	switch format {
	case "":
		_, err := fmt.Fprintln(w, v)
		return err
	case "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	case "yaml":
		data, err := yaml.Marshal(v)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	return errUsage{fmt.Errorf("--output %q is not %s", format, strings.Join(versionFormats, " or "))}
}
