package embedded

import (
	"errors"
	"os"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"golang.org/x/sys/windows"
)

// tryLock opens the file, with the additional flags, and locks it without waiting. The lock ends when the file is
// closed or the process ends. The error is fileutil.ErrLocked if another open file has the lock, and fs.ErrNotExist if
// there is no file and the flags don't create it.
//
// It is not etcd's fileutil.TryLockFile, which on Windows panics for O_RDWR|O_CREATE, creates files in any case, and
// succeeds if another process has the lock (etcd v3.7.3, client/pkg/fileutil/lock_windows.go: open, lockFile). It locks
// the same byte, so it conflicts with the locks of other etcd programs. Others may remove the file while it is locked,
// as on other systems.
func tryLock(path string, flags int) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	disposition := uint32(windows.OPEN_EXISTING)
	if flags&os.O_CREATE != 0 {
		disposition = windows.OPEN_ALWAYS
	}
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, disposition,
		windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	err = windows.LockFileEx(h, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{})
	if err == nil {
		return os.NewFile(uintptr(h), path), nil
	}
	_ = windows.CloseHandle(h) // the first error is returned
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return nil, fileutil.ErrLocked
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}
