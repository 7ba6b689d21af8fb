package starttime

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// OfProcess is when the process began: the time that a user waits includes the loading of the binary and the
// packages' initialization.
func OfProcess() time.Time {
	now := time.Now()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return now
	}
	uptime, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return now
	}
	// Fields are counted after the command's name, which may contain anything; the 22nd of all is the start in ticks
	// (1/100 s on every Linux) since boot.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	up := strings.Fields(string(uptime))
	if len(fields) < 20 || len(up) == 0 {
		return now
	}
	ticks, err1 := strconv.ParseFloat(fields[19], 64)
	since, err2 := strconv.ParseFloat(up[0], 64)
	if err1 != nil || err2 != nil {
		return now
	}
	return plausibleStart(now, now.Add(-time.Duration((since-ticks/100)*float64(time.Second))))
}
