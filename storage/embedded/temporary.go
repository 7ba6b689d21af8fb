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

// inUse is the name of the file that a process locks in its temporary directory.
const inUse = memberName + ".temporary"

// Temporary creates a directory for this process in parent, or in the system's directory for temporary files if parent
// is empty. done removes it; the next process removes what done can't remove. In the background Temporary removes the
// directories of processes that were killed, as nothing uses them again.
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
		// Another process's sweep came between the creation of the file and its lock, and removes the directory.
		if !errors.Is(err, fileutil.ErrLocked) || tries == 3 {
			os.RemoveAll(dir)
			return "", nil, fmt.Errorf("locking a temporary directory: %w", err)
		}
	}
	var sweeping sync.WaitGroup
	sweeping.Go(func() { sweep(parent) })
	return dir, func() {
		sweeping.Wait()
		err := empty(dir)
		lock.Close() // before the removal, as some systems can't remove open files
		if err == nil {
			os.RemoveAll(dir)
		}
	}, nil
}

// empty removes the content of a directory, except for the file inUse: without that file no other process would
// continue the removal if this one is killed.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != inUse {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return err
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
			err := empty(dir)
			if err == nil {
				err = os.RemoveAll(dir)
			}
			lock.Close()
			if err != nil { // some file systems keep the name of an open file until it is closed
				os.Remove(dir)
			}
		}
	}
}

// lockMark locks a directory's file inUse, opened with the flags. The error is also ErrLocked if the file was removed
// before it was locked, as another process then had the lock.
func lockMark(dir string, flags int) (io.Closer, error) {
	path := filepath.Join(dir, inUse)
	lock, err := tryLock(path, flags)
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

// adopt turns the temporary directory of a killed process into a permanent one: a user who names it wants its data. The
// error is ErrLocked if it is in use, or being removed.
func adopt(dir string) error {
	lock, err := lockMark(dir, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close() // after the removal, so that no process that has opened the file sweeps
	return os.Remove(filepath.Join(dir, inUse))
}
