package faults

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binary is the server, built once.
var binary string

func TestMain(m *testing.M) {
	flag.Parse()
	if *seed == 0 {
		*seed = 1 + rand.Uint64N(1_000_000)
	}
	dir, err := os.MkdirTemp("", "faults-")
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
	if code != 0 {
		fmt.Printf("again: make soak SUITE=faults SEED=%d ROUNDS=%d\n", *seed, *rounds)
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

// process is a server on a data directory.
type process struct {
	cmd *exec.Cmd
	url string
}

var ready = regexp.MustCompile(`ready in \d+ ms: (http://\S+)`)

// serve starts a server and waits until it is ready. It ends with the test at the latest.
func serve(t *testing.T, dir string, flags ...string) *process {
	t.Helper()
	if err := sources(); err != nil {
		t.Fatal(err)
	}
	// Namespaces have no objects but those of the test, which counts them.
	args := append([]string{"serve", "--data-dir", dir, "--insecure-port=-1", "--secure-port=0",
		"--controllers=*,-serviceaccount-controller,-root-ca-certificate-publisher-controller"}, flags...)
	p := &process{cmd: exec.Command(binary, args...)}
	p.cmd.Stderr = t.Output()
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(syscall.SIGKILL) })
	line := make(chan string, 1)
	go func() {
		r := bufio.NewReader(out)
		text, _ := r.ReadString('\n') // at the end, a line that doesn't match
		line <- text
		_, _ = io.Copy(io.Discard, r) // it ends with the process
	}()
	select {
	case text := <-line:
		m := ready.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("the server printed %q", text)
		}
		p.url = m[1]
	case <-time.After(patience):
		t.Fatalf("the server isn't ready after %v", patience)
	}
	return p
}

// end sends a signal and waits for the end; a second call does nothing.
func (p *process) end(s syscall.Signal) {
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Signal(s) // it may have ended
	_ = p.cmd.Wait()            // an error is expected after a kill
}
