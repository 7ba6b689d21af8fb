package storagetest

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/internal/seed"
	"github.com/kubecascade/kubecascade/storage"
)

// killAfter is set in a process that is to kill itself, to the time after which it does so.
const killAfter = "STORAGETEST_KILL_AFTER"

var rounds = flag.Int("rounds", 30, "data directories of TestFirstStart")

// killMyself ends this process at once after a duration; none is never.
func killMyself(after string) {
	if after == "" {
		return
	}
	d, err := time.ParseDuration(after)
	if err != nil {
		panic(err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		panic(err)
	}
	time.AfterFunc(d, func() { _ = self.Kill() }) // it doesn't return
}

// TestFirstStart kills processes at random moments of their first start in a directory, once or more
// often, and then uses the directory.
func TestFirstStart(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed.Of(t), 1))
	within := firstStart(t)
	kills, early := 0, 0
	for round := range *rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			dir := t.TempDir()
			acknowledged := map[string]int64{}
			for again := true; again; again = again && rng.IntN(2) == 0 {
				startAndKill(t, dir, time.Duration(rng.Int64N(int64(within))), acknowledged)
				kills++
				if again = !started(dir); again { // half of them should come too early
					early++
					within += within / 8
				} else {
					within -= within / 8
				}
			}
			checkAcknowledged(t, dir, acknowledged)
			put(t, OpenConfig(t, storage.Config{DataDir: dir}), key("after"), 0, "x")
		})
	}
	t.Logf("%d kills, %d of them before etcd was ready for the first time", kills, early)
}

// started reports whether etcd has ever been ready in a directory.
func started(dir string) bool {
	_, made := os.Stat(filepath.Join(dir, "member"))
	_, marked := os.Stat(filepath.Join(dir, "first-start"))
	return made == nil && marked != nil
}

// firstStart measures one that nothing interrupts.
func firstStart(t *testing.T) time.Duration {
	t.Helper()
	begin := time.Now()
	e, err := storage.Open(t.Context(), storage.Config{DataDir: t.TempDir(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	put(t, e, key("a"), 0, "x")
	return time.Since(begin)
}

// startAndKill lets a process write to a directory until it kills itself.
func startAndKill(t *testing.T, dir string, after time.Duration, acknowledged map[string]int64) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashDir+"="+dir, fmt.Sprintf("%s=%s", killAfter, after))
	var out, errs bytes.Buffer
	child.Stdout, child.Stderr = &out, &errs
	err := child.Run()
	for line := range strings.Lines(out.String()) {
		note(t, acknowledged, line)
	}
	if err == nil || child.ProcessState.Exited() {
		t.Fatalf("killed after %v, but it ended: %v\n%s", after, err, errs.String())
	}
}
