//go:build unix

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestKrewInstallsThePlugin installs the plugin as Krew does: it unpacks the archive that the manifest names for this
// platform into a directory, links to the program from another one under the plugin's name, and calls it.
func TestKrewInstallsThePlugin(t *testing.T) {
	dist := os.Getenv("KUBECASCADE_DIST")
	if dist == "" {
		t.Fatal("$KUBECASCADE_DIST is not set")
	}
	data, err := os.ReadFile(filepath.Join(dist, "cascade.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var plugin struct {
		Spec struct {
			Version   string
			Platforms []struct {
				Selector struct {
					MatchLabels struct{ OS, Arch string } `yaml:"matchLabels"`
				}
				URI, Bin string
			}
		}
	}
	if err := yaml.Unmarshal(data, &plugin); err != nil {
		t.Fatal(err)
	}
	store, bin := t.TempDir(), t.TempDir()
	link := filepath.Join(bin, "kubectl-cascade")
	for _, p := range plugin.Spec.Platforms {
		if p.Selector.MatchLabels.OS != runtime.GOOS || p.Selector.MatchLabels.Arch != runtime.GOARCH {
			continue
		}
		archive := filepath.Join(dist, filepath.Base(p.URI))
		if out, err := exec.Command("tar", "-xzf", archive, "-C", store).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := os.Symlink(filepath.Join(store, p.Bin), link); err != nil {
			t.Fatal(err)
		}
	}
	version, err := exec.Command(link, "--version").CombinedOutput()
	if err != nil || !strings.Contains(string(version), strings.TrimPrefix(plugin.Spec.Version, "v")) {
		t.Errorf("%v\n%s", err, version)
	}
	help, err := exec.Command(link).CombinedOutput()
	if err != nil || !strings.Contains(string(help), "kubectl cascade [command]") {
		t.Errorf("%v\n%s", err, help)
	}
}
