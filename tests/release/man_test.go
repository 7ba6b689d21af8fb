package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMan: there is a page for each command with its flags, and the date is that of SOURCE_DATE_EPOCH.
func TestMan(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "man")
	build := exec.Command("go", "build", "-tags", "man", "-o", binary, "./cmd/kubecascade")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pages := func() map[string]string {
		dir := filepath.Join(t.TempDir(), "man")
		c := exec.Command(binary, dir)
		c.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1000000000", "TZ=UTC")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		m := map[string]string{}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			m[e.Name()] = string(data)
		}
		return m
	}
	first, second := pages(), pages()
	for page, want := range map[string]string{
		"kubecascade.1": "kubecascade-serve(1)", "kubecascade-serve.1": "--kubeconfig-out",
		"kubecascade-version.1": "--output", "kubecascade-health.1": "--certificate-authority",
		"kubecascade-conformance-replay.1": "--recorded", "kubecascade-completion-bash.1": "bash-completion",
	} {
		text := strings.ReplaceAll(first[page], `\-`, "-")
		if !strings.Contains(text, want) || !strings.Contains(text, `"Sep 2001"`) {
			t.Errorf("%s has no %q, or another date:\n%.300s", page, want, text)
		}
	}
	for page, text := range first {
		if second[page] != text {
			t.Errorf("%s is not the same twice", page)
		}
	}
}
