package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// processorTime is the time for which the threads of a process have run. Those that have ended are not counted; Go's
// seldom do. The time in /proc/PID/stat has steps of 10 ms.
func processorTime(pid int) (sum time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("process %d has no threads with a schedstat", pid)
	}
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		ran, err := ranFor(string(data))
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", file, err)
		}
		sum += ran
	}
	return sum, nil
}

// ranFor reads the first field of a schedstat.
func ranFor(schedstat string) (time.Duration, error) {
	first, _, _ := strings.Cut(schedstat, " ")
	nanoseconds, err := strconv.ParseInt(first, 10, 64)
	return time.Duration(nanoseconds), err
}

// Fields of /proc/PID/status.
const (
	resident = "VmRSS:"
	// peak is the most that was resident since resetPeak.
	peak = "VmHWM:"
)

// memory is a field of a process in MiB.
func memory(pid int, field string) (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return mebibytes(string(data), field)
}

// mebibytes reads a field of a status file, which is in KiB.
func mebibytes(status, field string) (float64, error) {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("no " + field)
}

// resetPeak sets the peak of a process to what is resident.
func resetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}
