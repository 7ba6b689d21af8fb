package embedded

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// LockDir creates dir and locks it for this process, until the lock is closed or the process ends. The error is
// ErrInUse if another process has locked it. Start locks its directory by itself.
func LockDir(dir string) (io.Closer, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating data directory: %w", err)
	}
	lock, err := tryLock(filepath.Join(dir, memberName+".lock"), os.O_CREATE)
	if err != nil {
		return nil, lockError(dir, err)
	}
	if err := adopt(dir); err != nil {
		lock.Close()
		return nil, lockError(dir, err)
	}
	return lock, nil
}

// lockMember is LockDir for a data directory of etcd. It uses a lock of its own, because etcd waits for bbolt's lock
// without a time limit; the lock of etcd's log shows whether another etcd program uses the directory.
func lockMember(dir string) (io.Closer, error) {
	lock, err := LockDir(dir)
	if err != nil {
		return nil, err
	}
	segments, err := fs.Glob(os.DirFS(dir), memberDir+"/wal/*.wal")
	if err == nil && len(segments) > 0 {
		var probe io.Closer
		if probe, err = tryLock(filepath.Join(dir, segments[len(segments)-1]), 0); err == nil {
			probe.Close()
		}
	}
	if err != nil {
		lock.Close()
		return nil, lockError(dir, err)
	}
	return lock, nil
}

func lockError(dir string, err error) error {
	if errors.Is(err, fileutil.ErrLocked) {
		return fmt.Errorf("%w: %s", ErrInUse, dir)
	}
	var cause *fs.PathError // without the name of the function that etcd puts before it
	if errors.As(err, &cause) {
		err = cause
	}
	return fmt.Errorf("locking data directory: %w", err)
}
