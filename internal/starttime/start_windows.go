package starttime

import (
	"time"

	"golang.org/x/sys/windows"
)

// OfProcess is when the process began: the time that a user waits includes the loading of the binary and the
// packages' initialization.
func OfProcess() time.Time {
	now := time.Now()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user); err != nil {
		return now
	}
	return plausibleStart(now, time.Unix(0, created.Nanoseconds()))
}
