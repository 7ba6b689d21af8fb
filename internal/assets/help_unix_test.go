//go:build !windows

package assets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubecascade/kubecascade/internal/assets/help"
)

// TestKeepHelp: the help is what the program prints, follows it, and a program without help is an error.
func TestKeepHelp(t *testing.T) {
	o := Options{Dir: filepath.Join(t.TempDir(), "assets"), KeepHelp: true}
	for _, text := range []string{"first", "second one"} {
		o.Program = program(t, "#!/bin/sh\necho \"$1 "+text+"\"; echo "+text+" >&2\n")
		for range 2 {
			dir := ensure(t, o)
			for _, name := range []string{"etcd", "kube-apiserver"} {
				a, ok := help.Kept(filepath.Join(dir, name))
				if !ok || string(a.Stdout) != "--help "+text+"\n" || string(a.Stderr) != text+"\n" {
					t.Errorf("%s: %v %q %q", name, ok, a.Stdout, a.Stderr)
				}
			}
		}
	}
	if err := os.Remove(o.Program); err != nil {
		t.Fatal(err)
	}
	if _, ok := help.Kept(filepath.Join(o.Dir, "etcd")); ok {
		t.Error("the help outlives the program")
	}
	o.Program = program(t, "#!/bin/sh\nexit 3\n")
	if _, err := Ensure(o); err == nil {
		t.Error("a program without help is no error")
	}
}

// TestKeepNoHelp: a directory whose help can't be written is good, and its help is not kept.
func TestKeepNoHelp(t *testing.T) {
	o := Options{Dir: filepath.Join(t.TempDir(), "assets"), KeepHelp: true, Program: program(t, "#!/bin/sh\necho help\n")}
	if err := os.MkdirAll(filepath.Join(o.Dir, "etcd.help", "taken"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := ensure(t, o)
	for name, want := range map[string]bool{"etcd": false, "kube-apiserver": true} {
		if _, ok := help.Kept(filepath.Join(dir, name)); ok != want {
			t.Errorf("%s: its help is kept: %t", name, ok)
		}
	}
}
