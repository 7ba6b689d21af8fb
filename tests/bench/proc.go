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

// processorTime returns the processor time of the threads of a process. It omits threads that have ended, which is rare
// in Go. /proc/PID/stat would include them, but has steps of 10 ms.
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

// memory returns the resident memory of a process, and its maximum since resetPeak, in MiB.
func memory(pid int) (resident, peak float64, err error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, 0, err
	}
	s, err := p.NewStatus()
	return float64(s.VmRSS) / (1 << 20), float64(s.VmHWM) / (1 << 20), err
}

// resetPeak sets the maximum of a process's resident memory to the current value.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
