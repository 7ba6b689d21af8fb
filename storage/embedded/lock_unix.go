//go:build !windows

package embedded

import (
	"os"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
)

// tryLock opens the file, with the additional flags, and locks it without waiting. The lock ends when the file is
// closed or the process ends. The error is fileutil.ErrLocked if another open file has the lock, and fs.ErrNotExist if
// there is no file and the flags don't create it.
func tryLock(path string, flags int) (*os.File, error) {
	lock, err := fileutil.TryLockFile(path, os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, err
	}
	return lock.File, nil
}
