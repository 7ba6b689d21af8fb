package storagetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/storage"
)

// crashDir is set in the process of the test binary that is to be killed.
const crashDir = "STORAGETEST_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		killMyself(os.Getenv(killAfter))
		fmt.Fprintln(os.Stderr, commitForEver(dir, os.Getpid()))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// commitForEver writes new keys and prints those that are acknowledged, with their revisions.
func commitForEver(dir string, run int) error {
	ctx := context.Background()
	e, err := storage.Open(ctx, storage.Config{DataDir: dir})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for w := range 8 {
		go func() {
			for i := 0; ; i++ {
				k := key(fmt.Sprintf("%d-%d-%d", run, w, i))
				rev, err := e.Commit(ctx, storage.Txn{Key: k, Value: []byte(k)})
				if err != nil {
					failed <- err
					return
				}
				// One write to the pipe, so that a line is there as a whole or not at all.
				fmt.Fprintf(os.Stdout, "%d %s\n", rev, k)
			}
		}()
	}
	return <-failed
}

// TestAcknowledgedWritesOutliveAKill kills a process that writes, and looks for what it had acknowledged.
func TestAcknowledgedWritesOutliveAKill(t *testing.T) {
	dir := t.TempDir()
	acknowledged := map[string]int64{}
	for round := range 3 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), crashDir+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for n := 0; lines.Scan(); n++ {
			note(t, acknowledged, lines.Text())
			if n == 200 {
				if _, err := storage.Open(t.Context(), storage.Config{DataDir: dir}); !errors.Is(err, storage.ErrInUse) {
					t.Errorf("opening a directory in use: %v", err)
				}
			}
			if n == 400+round*200 {
				break
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			note(t, acknowledged, lines.Text())
		}
		_, _ = io.Copy(io.Discard, out)
		_ = child.Wait() // it was killed
		checkAcknowledged(t, dir, acknowledged)
	}
	t.Logf("%d acknowledged", len(acknowledged))
}

func note(t *testing.T, acknowledged map[string]int64, line string) {
	var rev int64
	var k string
	if _, err := fmt.Sscan(line, &rev, &k); err != nil {
		t.Fatalf("line %q: %v", line, err)
	}
	acknowledged[k] = rev
}

func checkAcknowledged(t *testing.T, dir string, acknowledged map[string]int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // some failures are forever
	defer cancel()
	e, err := storage.Open(ctx, storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	p, err := e.List(t.Context(), storage.Range{Prefix: "/registry/"})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, r := range p.Records {
		if string(r.Value) != r.Key {
			t.Errorf("%s holds %q", r.Key, r.Value)
		}
		found[r.Key] = r.ModRevision
	}
	for k, rev := range acknowledged {
		if found[k] != rev {
			t.Errorf("%s was acknowledged at revision %d, found at %d", k, rev, found[k])
		}
	}
}
