package assets

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestEnsurePlugin: both links lead to the program, are refreshed, and replace no file of another program.
func TestEnsurePlugin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "bin")
	for _, content := range []string{"first", "second", "second"} {
		paths, err := EnsurePlugin(dir, program(t, content))
		if err != nil || len(paths) != 2 {
			t.Fatalf("%q %v", paths, err)
		}
		got := files(t, dir)
		if len(got) != 2 || got[Plugin+extension] != content || got[PluginCompletion+extension] != content {
			t.Errorf("%q, want %q", got, content)
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	path := filepath.Join(dir, Plugin)
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("other"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := EnsurePlugin(dir, program(t, "third")); !errors.Is(err, ErrTaken) || files(t, dir)[Plugin] != "other" {
		t.Errorf("%v, files %q", err, files(t, dir))
	}
}

// TestMovedPlugin: beside the program the links stay right when the directory is moved.
func TestMovedPlugin(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links there have no target")
	}
	p := program(t, "x")
	if _, err := EnsurePlugin(filepath.Dir(p), p); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(filepath.Dir(p), moved); err != nil {
		t.Fatal(err)
	}
	if got := files(t, moved); got[Plugin] != "x" || got[PluginCompletion] != "x" {
		t.Errorf("%q", got)
	}
}
