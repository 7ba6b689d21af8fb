package embedded

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// fullErrors are the system's errors for a full disk and for an exhausted disk quota.
var fullErrors = []syscall.Errno{
	windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED,
}
