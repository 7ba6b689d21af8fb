package embedded_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"

	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/embedded"
)

const markedKey = "/registry/configmaps/default/a"

// useDir writes to a directory and closes it.
func useDir(t *testing.T, dir string) {
	t.Helper()
	e, err := storage.Open(t.Context(), storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if _, err := e.Commit(t.Context(), storage.Txn{Key: markedKey, Value: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(dir, embedded.MarkerName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("marker of a directory in use: %v", err)
	}
}

// used reports whether a directory still has the data that useDir wrote.
func used(t *testing.T, dir string) bool {
	t.Helper()
	e, err := storage.Open(t.Context(), storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Get(t.Context(), markedKey)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		t.Fatal(err)
	}
	return err == nil
}

// put writes a file below a directory, of which there need not be anything yet.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// files returns the names and contents in a directory.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		m[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// emptyLog makes a log without entries, which is where a crash hurts etcd.
func emptyLog(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, embedded.MemberDir), 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := wal.Create(zap.NewNop(), filepath.Join(dir, embedded.MemberDir, "wal"), []byte{8, 1, 16, 1})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
}

// TestInterruptedFirstStartIsRepeated opens what a crash can leave of a first start.
func TestInterruptedFirstStartIsRepeated(t *testing.T) {
	for name, leave := range map[string]func(dir string){
		"marker alone":         func(string) {},
		"marker half written":  func(dir string) { put(t, dir, embedded.MarkerName, "") },
		"empty member":         func(dir string) { put(t, dir, "member/snap/tmp1", "") },
		"log being made":       func(dir string) { put(t, dir, "member/wal.tmp/0000000000000000-0000000000000000.wal", "") },
		"log without entries":  func(dir string) { emptyLog(t, dir) },
		"database and no log":  func(dir string) { put(t, dir, "member/snap/db", "half") },
		"ready but marked yet": func(dir string) { reopen(t, dir); put(t, dir, embedded.MarkerName, embedded.MarkerText) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, embedded.MarkerName, embedded.MarkerText)
			leave(dir)
			useDir(t, dir)
			if !used(t, dir) {
				t.Error("written, but not found")
			}
		})
	}
}

// TestOnlyMarkedDataIsRemoved: only what has a marker is removed, and no snapshot that was restored beside it.
func TestOnlyMarkedDataIsRemoved(t *testing.T) {
	for _, c := range []struct {
		name             string
		marked, snapshot bool
		kept             bool
	}{
		{"marked", true, false, false},
		{"unmarked", false, false, true},
		{"restored", false, true, true},
		{"restored and marked", true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			useDir(t, dir)
			if c.marked {
				put(t, dir, embedded.MarkerName, embedded.MarkerText)
			}
			if c.snapshot {
				put(t, dir, "member/snap/0000000000000001-0000000000000001.snap", "")
			}
			for range 2 {
				if used(t, dir) != c.kept {
					t.Errorf("kept %v, want %v", !c.kept, c.kept)
				}
			}
		})
	}
}

// abandonedDir returns a directory in which etcd fails to start. etcd then leaves a goroutine that makes one more log
// file at an unknown time, so the directory is removed repeatedly until it is gone.
func abandonedDir(t *testing.T) string {
	dir := t.TempDir()
	t.Cleanup(func() { // runs before TempDir's own
		for end := time.Now().Add(10 * time.Second); os.RemoveAll(dir) != nil && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	})
	return dir
}

// TestUnmarkedDataIsKept: without a marker even data with which etcd can't start is kept.
func TestUnmarkedDataIsKept(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, dir string){
		"garbage": func(t *testing.T, dir string) {
			put(t, dir, "member/wal/0000000000000000-0000000000000000.wal", "garbage")
		},
		"log without entries": emptyLog,
	} {
		t.Run(name, func(t *testing.T) {
			dir := abandonedDir(t)
			leave(t, dir)
			before := files(t, filepath.Join(dir, embedded.MemberDir, "wal"))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if e, err := storage.Open(ctx, storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)}); err == nil {
				e.Close()
				t.Error("opened")
			}
			left := slices.Collect(maps.Values(files(t, filepath.Join(dir, embedded.MemberDir, "wal"))))
			for name, text := range before { // etcd keeps what it tries to mend under another name
				if !slices.Contains(left, text) {
					t.Errorf("%s is gone", name)
				}
			}
			if marked, err := embedded.Exists(filepath.Join(dir, embedded.MarkerName)); marked || err != nil {
				t.Errorf("marked %v, %v", marked, err)
			}
		})
	}
}

// TestLinkToNowhereIsNoNewDirectory: a disk that is not mounted is no new directory.
func TestLinkToNowhereIsNoNewDirectory(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	useDir(t, dir)
	mounted, link := filepath.Join(disk, embedded.MemberDir), filepath.Join(dir, embedded.MemberDir)
	if err := errors.Join(os.Rename(link, mounted), os.Symlink(mounted, link)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(mounted, mounted+"-away"); err != nil {
		t.Fatal(err)
	}
	if e, err := storage.Open(
		t.Context(), storage.Config{DataDir: dir, Logger: slog.New(slog.DiscardHandler)}); err == nil {
		e.Close()
		t.Error("opened without the disk")
	}
	if err := os.Rename(mounted+"-away", mounted); err != nil {
		t.Fatal(err)
	}
	if !used(t, dir) {
		t.Error("data are gone")
	}
}
