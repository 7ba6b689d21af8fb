package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// inUse is the file in a temporary directory that whoever made it has locked for as long as it lives.
const inUse = memberName + ".temporary"

// Temporary makes a directory in parent, or where the system keeps such if that is empty, that is nobody else's; done
// removes it. Those of processes that were killed are removed on the way, in the background: nobody comes back for
// them.
func Temporary(parent string) (dir string, done func(), err error) {
	if parent == "" {
		parent = os.TempDir()
	}
	var lock io.Closer
	for tries := 0; ; tries++ {
		if dir, err = os.MkdirTemp(parent, memberName+"-"); err != nil {
			return "", nil, fmt.Errorf("creating a temporary directory: %w", err)
		}
		if lock, err = lockMark(dir, os.O_CREATE); err == nil {
			break
		}
		// Somebody who sweeps has come between the file and its lock, and removes it.
		if !errors.Is(err, fileutil.ErrLocked) || tries == 3 {
			os.RemoveAll(dir)
			return "", nil, fmt.Errorf("locking a temporary directory: %w", err)
		}
	}
	var sweeping sync.WaitGroup
	sweeping.Go(func() { sweep(parent) })
	return dir, func() {
		sweeping.Wait()
		lock.Close() // before, as some systems don't remove what is open
		os.RemoveAll(dir)
	}, nil
}

// sweep removes temporary directories whose processes have ended.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), memberName+"-") {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if lock, err := lockMark(dir, 0); err == nil {
			os.RemoveAll(dir)
			lock.Close()
		}
	}
}

// lockMark locks a directory's file inUse, opened with the flags. ErrLocked is also the error if the file went
// before it was locked, as then somebody else had it.
func lockMark(dir string, flags int) (io.Closer, error) {
	path := filepath.Join(dir, inUse)
	lock, err := fileutil.TryLockFile(path, os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, err
	}
	locked, err := lock.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Stat(path); err == nil && os.SameFile(locked, there) {
			return lock, nil
		}
	}
	lock.Close()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = fileutil.ErrLocked
	}
	return nil, err
}

// adopt makes a temporary directory whose process was killed one that stays: who names it wants what is in it.
// The error is ErrLocked if it is used, or being removed.
func adopt(dir string) error {
	lock, err := lockMark(dir, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close() // after the file went, so that nobody who has opened it sweeps
	return os.Remove(filepath.Join(dir, inUse))
}
