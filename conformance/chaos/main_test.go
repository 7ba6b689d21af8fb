package chaos

import (
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

var (
	duration = flag.Duration("duration", 0, "how long faults are injected at random; 0 injects each kind once")
	program  = flag.String("binary", "", "server to test; by default it is built from the source")
	seed     = flag.Uint64("seed", 1, "seed of the faults and of what clients do; 0 draws one, which is printed")
)

// binary is the server, built once, and self this test, which is an etcd member, too.
var binary, self string

func TestMain(m *testing.M) {
	if s := os.Getenv(memberEnv); s != "" {
		fmt.Fprintln(os.Stderr, runMember(s)) // it returns only if etcd fails
		os.Exit(1)
	}
	flag.Parse()
	var err error
	if self, err = os.Executable(); err != nil {
		panic(err)
	}
	if *seed == 0 {
		*seed = 1 + rand.Uint64N(1_000_000)
	}
	if binary = *program; binary != "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp("", "chaos-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "kubecascade")
	build := exec.Command("go", "build", "-o", binary, "../../cmd/kubecascade")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	code := 1
	if build.Run() == nil {
		code = m.Run()
	}
	_ = os.RemoveAll(dir) // the system cleans up what can't be removed
	os.Exit(code)
}

// sources looks into all directories of the server that was built, which isn't imported: go test caches a result for as
// long as the files that tests have read are unchanged.
var sources = sync.OnceValue(func() error {
	return filepath.WalkDir(filepath.Join("..", ".."), func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err // there may be no d
		}
		if name := d.Name(); name == "bin" || name == ".git" {
			return fs.SkipDir
		}
		return nil
	})
})

func look(t *testing.T) {
	t.Helper()
	if err := sources(); err != nil {
		t.Fatal(err)
	}
}
