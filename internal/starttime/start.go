package starttime

import "time"

// oldestStart is the maximum age of a process that only now looks when it began: an older start is an error of the
// clock.
const oldestStart = time.Minute

// plausibleStart is the start that the system reports, or now if the clock was changed since.
func plausibleStart(now, start time.Time) time.Time {
	if age := now.Sub(start); age < 0 || age >= oldestStart {
		return now
	}
	return now.Add(start.Sub(now)) // with now's monotonic clock
}
