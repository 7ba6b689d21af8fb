package starttime

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// OfProcess is when the process began: the time that a user waits includes the loading of the binary and the
// packages' initialization.
func OfProcess() time.Time {
	now := time.Now()
	info, err := unix.SysctlKinfoProc("kern.proc.pid", os.Getpid())
	if err != nil {
		return now
	}
	return plausibleStart(now, time.Unix(info.Proc.P_starttime.Unix()))
}
