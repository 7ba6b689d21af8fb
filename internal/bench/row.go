package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is one figure.
type row struct {
	What string  `json:"what"`
	Unit string  `json:"unit"`
	Min  float64 `json:"min"`
	Mid  float64 `json:"median"`
	Max  float64 `json:"max"`
	Runs int     `json:"runs"`
	// P50 and P99 are the percentiles of an operation's duration in milliseconds; 0 if that wasn't measured. Longest is
	// the longest one, in place of P99, if there are too few for that.
	P50     float64 `json:"p50Milliseconds,omitempty"`
	P99     float64 `json:"p99Milliseconds,omitempty"`
	Longest float64 `json:"longestMilliseconds,omitempty"`
	// CPU is the server's processor time per operation in microseconds.
	CPU float64 `json:"serverMicroseconds,omitempty"`
	// Limit is what the machine does in the same unit without the server (see limits.go); 0 if there is no such value.
	Limit float64 `json:"limit,omitempty"`
}

// rowOf summarizes the runs of one case.
func rowOf(what, unit string, values []float64) row {
	slices.Sort(values)
	n := len(values)
	return row{What: what, Unit: unit, Min: values[0], Mid: values[n/2], Max: values[n-1], Runs: n}
}

// measured is one run of operations.
type measured struct {
	// rate is the number of operations per second.
	rate float64
	times
	// cpu is the server's processor time per operation.
	cpu time.Duration
}

// times describe the durations of operations. longest is in place of p99, which is 0, if there are too few for that.
type times struct{ p50, p99, longest time.Duration }

// leastForP99 is how many durations a 99th percentile must be of. That of fewer would be the longest.
const leastForP99 = 100

// timesOf describes sorted durations.
func timesOf(sorted []time.Duration) times {
	if n := len(sorted); n > 0 && n < leastForP99 {
		return times{p50: percentile(sorted, 50), longest: sorted[n-1]}
	}
	return times{p50: percentile(sorted, 50), p99: percentile(sorted, 99)}
}

func (m measured) row(what string) row { return rowsOf(what, []measured{m}) }

// rowsOf is the row of several runs, with the times of the median run.
func rowsOf(what string, runs []measured) row {
	slices.SortFunc(runs, func(a, b measured) int { return int(a.rate - b.rate) })
	rates := make([]float64, len(runs))
	for i, m := range runs {
		rates[i] = m.rate
	}
	r, mid := rowOf(what, "/s", rates), runs[len(runs)/2]
	r.time(mid.times)
	r.CPU = float64(mid.cpu.Nanoseconds()) / 1e3
	return r
}

func (r *row) time(t times) {
	r.P50, r.P99, r.Longest = milliseconds(t.p50), milliseconds(t.p99), milliseconds(t.longest)
}

// tail is the 99th percentile, or the longest duration.
func (r row) tail() string {
	if r.Longest > 0 {
		return "max " + figure(r.Longest)
	}
	return figure(r.P99)
}

func (r row) limited(limit float64) row {
	r.Limit = limit
	return r
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// percentile of sorted times.
func percentile(sorted []time.Duration, p int) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

func show(rows []row, output string) error {
	switch output {
	case "json":
		return json.NewEncoder(os.Stdout).Encode(rows)
	case "":
	default:
		return errors.New("-o: only json is known")
	}
	fmt.Printf(
		"%s/%s, %d processors, %s, %s, load %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(),
		time.Now().Format(time.DateOnly), load(),
	)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(
		w, "what\tmedian\tmin\tmax\tunit\truns\tp50 ms\tp99 ms, or max of < %d\tserver µs\tlimit\t\n", leastForP99,
	)
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t\n", r.What, figure(r.Mid), figure(r.Min),
			figure(r.Max), r.Unit, r.Runs, figure(r.P50), r.tail(), figure(r.CPU), figure(r.Limit))
	}
	return w.Flush()
}

// figure formats a number with three significant digits; 0 is "-".
func figure(f float64) string {
	switch {
	case f == 0:
		return "-"
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.3g", f)
}

// load is the average number of processes that waited for a processor in the last minute.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(data), " ")
	if err != nil {
		return "unknown"
	}
	return first
}
