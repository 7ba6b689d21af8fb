package embedded

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// TestLockExcludesOthers: on every system a lock excludes others until it is closed, whether or not its file was
// removed, and a file is only created if the flags say so.
func TestLockExcludesOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if _, err := tryLock(path, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("locking a missing file gives %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a missing file was created: %v", err)
	}
	first, err := tryLock(path, os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range []int{0, os.O_CREATE} {
		if _, err := tryLock(path, flags); !errors.Is(err, fileutil.ErrLocked) {
			t.Errorf("locking a locked file with flags %d gives %v", flags, err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := tryLock(path, 0)
	if err != nil {
		t.Fatalf("locking a file after its lock was closed: %v", err)
	}
	defer second.Close()
	if err := os.Remove(path); err != nil {
		t.Errorf("removing a locked file: %v", err)
	}
}
