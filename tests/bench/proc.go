package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// processorTime is the time for which the threads of a process have run. Those that have ended are not counted; Go's
// seldom do. The time in /proc/PID/stat has steps of 10 ms.
func processorTime(pid int) (sum time.Duration, err error) {
	threads, err := procfs.AllThreads(pid)
	for _, t := range threads {
		s, err := t.Schedstat()
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH): // it has ended
		case err != nil:
			return 0, fmt.Errorf("reading the schedstat of thread %d: %w", t.PID, err)
		}
		sum += time.Duration(s.RunningNanoseconds)
	}
	return sum, err
}

// memory is what is resident of a process, and the most that was resident since resetPeak, in MiB.
func memory(pid int) (resident, peak float64, err error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, err
	}
	s, err := p.NewStatus()
	return float64(s.VmRSS) / (1 << 20), float64(s.VmHWM) / (1 << 20), err
}

// resetPeak sets the peak of a process to what is resident.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
