//go:build unix

package snapshot_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/kubecascade/kubecascade/storage/snapshot"
)

// TestOnlyRegularFilesAreOpened: a path that is no regular file is an error, and a pipe without a writer does not
// block.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	below := filepath.Join(dir, "member", "snap", "db")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.MkdirAll(filepath.Dir(below), 0o700),
		syscall.Mkfifo(below, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir, below, os.DevNull} {
		if _, err := snapshot.Open(path); !errors.Is(err, snapshot.ErrForeign) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
