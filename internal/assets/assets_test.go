package assets

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// program writes an executable file.
func program(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubecascade")
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func unset(string) (string, bool) { return "", false }

func ensure(t *testing.T, o Options) string {
	t.Helper()
	dir, err := Ensure(o)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// files returns the content of what the directory's files are or link to, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
	}
	return all
}

// TestDirectoryHasTheBinaries: the directory has the binaries, follows what changes, and leaves nothing else.
func TestDirectoryHasTheBinaries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "assets")
	first, second, kubectl := program(t, "first"), program(t, "second"), program(t, "kubectl")
	for _, c := range []struct {
		o    Options
		want map[string]string
	}{
		{
			Options{Program: first, Kubectl: kubectl},
			map[string]string{"etcd": "first", "kube-apiserver": "first", "kubectl": "kubectl", controllersFile: ""},
		},
		{
			Options{Program: second, Controllers: []string{"a", "b"}},
			map[string]string{"etcd": "second", "kube-apiserver": "second", controllersFile: "a,b"},
		},
	} {
		c.o.Dir = dir
		for range 2 {
			got := files(t, ensure(t, c.o))
			for name, content := range c.want {
				if name != controllersFile {
					name += extension
				}
				if got[name] != content {
					t.Errorf("%s is %q, want %q", name, got[name], content)
				}
			}
			if len(got) != len(c.want) {
				t.Errorf("files %v, want %v", got, c.want)
			}
		}
		words, err := ControllersOf(filepath.Join(dir, "kube-apiserver"), unset)
		if err != nil || !slices.Equal(words, c.o.Controllers) || words == nil {
			t.Errorf("controllers %q %v, want %q", words, err, c.o.Controllers)
		}
	}
}

// TestEnsureRunsConcurrently: calls at once all return the complete directory.
func TestEnsureRunsConcurrently(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "assets")
	programs := []string{program(t, "x"), program(t, "x")}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for range 5 {
				if _, err := Ensure(Options{Dir: dir, Program: programs[i%2], Controllers: []string{"c"}}); err != nil {
					t.Error(err)
					return
				}
				if data, err := os.ReadFile(filepath.Join(dir, "etcd"+extension)); err != nil || string(data) != "x" {
					t.Errorf("%q %v", data, err)
				}
			}
		})
	}
	all.Wait()
	if got := files(t, dir); len(got) != 3 {
		t.Errorf("left: %v", got)
	}
}

// TestDirectoryDependsOnProgramAndControllers: the directory in the cache directory depends on the version, the program
// and the controllers.
func TestDirectoryDependsOnProgramAndControllers(t *testing.T) {
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	a := program(t, "a")
	seen := map[string]bool{}
	for _, o := range []Options{
		{Program: a}, {Program: program(t, "a")}, {Program: a, Version: "1"}, {Program: a, Controllers: []string{"c"}},
		{Program: a, Version: "1"},
	} {
		seen[ensure(t, o)] = true
	}
	if len(seen) != 4 {
		t.Errorf("directories %v", seen)
	}
}

// TestKubectlInPath: kubectl that was found in this folder, or in another one, is linked to where it is.
func TestKubectlInPath(t *testing.T) {
	base := t.TempDir()
	kubectl := program(t, "kubectl")
	o := Options{Program: program(t, "x"), Kubectl: kubectl}
	for _, name := range []string{"a", "b", "b", "a"} {
		o.Dir = filepath.Join(base, name)
		dir := ensure(t, o)
		o.Kubectl = filepath.Join(dir, "kubectl"+extension)
		if got := files(t, dir)["kubectl"+extension]; got != "kubectl" {
			t.Errorf("in %s: %q", name, got)
		}
	}
	if err := os.RemoveAll(filepath.Join(base, "a")); err != nil {
		t.Fatal(err)
	}
	if got := files(t, filepath.Join(base, "b"))["kubectl"+extension]; got != "kubectl" {
		t.Errorf("without the other folder: %q", got)
	}
}

// TestOtherProgramsAreKept: programs that Ensure has not made stay as they are.
func TestOtherProgramsAreKept(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links there are like any other file")
	}
	dir := t.TempDir()
	write := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("real"), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	kubectl := write("kubectl")
	for _, found := range []string{"", program(t, "kubectl"), kubectl} {
		got := files(t, ensure(t, Options{Dir: dir, Program: program(t, "x"), Kubectl: found}))
		if got["kubectl"] != "real" || got["etcd"] != "x" {
			t.Errorf("with kubectl %q: %q", found, got)
		}
	}
	for _, name := range []string{"kube-apiserver", "etcd"} {
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		write(name)
		_, err := Ensure(Options{Dir: dir, Program: program(t, "y"), Controllers: []string{"c"}})
		if !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
		if got := files(t, dir); got[name] != "real" || got[controllersFile] != "" {
			t.Errorf("%s: %q", name, got)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		ensure(t, Options{Dir: dir, Program: program(t, "x")})
	}
}

// TestTransientProgramIsCopied: a program that will be removed is copied, once for the same content, and replaced by
// another.
func TestTransientProgramIsCopied(t *testing.T) {
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, t.TempDir())
	}
	seen := map[string]bool{}
	for range 2 {
		p := program(t, "a")
		dir := ensure(t, Options{Program: p, Copy: true})
		if err := os.Remove(p); err != nil {
			t.Fatal(err)
		}
		if got := files(t, dir); got["etcd"+extension] != "a" || got["kube-apiserver"+extension] != "a" {
			t.Errorf("%v", got)
		}
		seen[dir] = true
	}
	if len(seen) != 1 {
		t.Errorf("folders %v", seen)
	}
	dir := t.TempDir()
	for _, content := range []string{"a", "b"} {
		ensure(t, Options{Dir: dir, Program: program(t, content), Copy: true})
		if got := files(t, dir)["etcd"+extension]; got != content {
			t.Errorf("%q, want %q", got, content)
		}
	}
}

// TestNoControllersOutsideADirectory: beside a program elsewhere there are no controllers.
func TestNoControllersOutsideADirectory(t *testing.T) {
	if words, err := ControllersOf(program(t, "x"), unset); words == nil || len(words) > 0 || err != nil {
		t.Errorf("%q %v", words, err)
	}
}

// TestEtcdArguments: the election is quick unless it is configured, or there may be other members.
func TestEtcdArguments(t *testing.T) {
	quick := []string{"etcd", "--heartbeat-interval=10", "--election-timeout=50", "--data-dir=d"}
	none := func(string) string { return "" }
	if got := EtcdArguments([]string{"etcd", "--data-dir=d"}, none); !slices.Equal(got, quick) {
		t.Errorf("%q", got)
	}
	for _, args := range [][]string{
		{"etcd", "--election-timeout=1000"}, {"etcd", "-heartbeat-interval", "100"}, {"etcd", "--initial-cluster=a=http://b"},
		{"etcd", "grpc-proxy", "start"}, {"etcd", "--discovery-srv=x"},
	} {
		if got := EtcdArguments(args, none); !slices.Equal(got, args) {
			t.Errorf("%q became %q", args, got)
		}
	}
	set := func(name string) string { return map[string]string{"ETCD_ELECTION_TIMEOUT": "500"}[name] }
	if got := EtcdArguments([]string{"etcd"}, set); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
