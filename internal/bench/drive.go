package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// drive has a number of clients call f for 0..n-1, each over its own connection.
func (t *target) drive(ctx context.Context, clients, n int, f func(c *conn, i int) error) (m measured, err error) {
	conns := make([]*conn, clients)
	for i := range conns {
		if conns[i], err = t.dial(ctx); err != nil {
			return m, err
		}
		defer conns[i].close()
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	failures := make([]error, clients)
	took := make([][]time.Duration, clients)
	before, began := cpuTime(t.pid), time.Now()
	for k, c := range conns {
		took[k] = make([]time.Duration, 0, n/clients+1)
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				start := time.Now()
				if failures[k] = ctx.Err(); failures[k] == nil {
					failures[k] = f(c, int(i))
				}
				if failures[k] != nil {
					return
				}
				took[k] = append(took[k], time.Since(start))
			}
		})
	}
	wg.Wait()
	seconds := time.Since(began).Seconds()
	all := slices.Concat(took...)
	slices.Sort(all)
	for _, err := range failures {
		if err != nil {
			return m, err
		}
	}
	return measured{
		rate: float64(n) / seconds, times: timesOf(all), cpu: (cpuTime(t.pid) - before) / time.Duration(n),
	}, nil
}

// cpuTime is the processor time that a process has used, in steps of 10 ms; 0 if that isn't known.
func cpuTime(pid int) time.Duration {
	if pid == 0 {
		return 0
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}
