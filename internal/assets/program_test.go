package assets

import (
	"path/filepath"
	"testing"
)

// TestProgramsOfGoRunAreTransient: the paths of programs that "go run" removes are recognized.
func TestProgramsOfGoRunAreTransient(t *testing.T) {
	for path, want := range map[string]bool{
		"/tmp/go-build2608306864/b001/exe/kubecascade":  true,
		"/home/a/go/bin/kubecascade":                    false,
		"/home/a/.cache/go-build/5e/5e0c-d/kubecascade": false,
		"/srv/exe/kubecascade":                          false,
		"/kubecascade":                                  false,
	} {
		if got := Transient(filepath.FromSlash(path)); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
