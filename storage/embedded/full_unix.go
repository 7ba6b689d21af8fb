//go:build !windows

package embedded

import "syscall"

// fullErrors are the system's errors for a full disk and for an exhausted disk quota.
var fullErrors = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT}
