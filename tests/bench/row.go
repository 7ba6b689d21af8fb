package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// sample is a figure of one run.
type sample struct {
	value float64
	unit  string
	// p50 and p99 are percentiles of the durations of operations; zero if they were not measured.
	p50, p99 time.Duration
	// server is the processor time of the server for one operation.
	server time.Duration
	// peak is the maximum resident memory of the server, in MiB.
	peak float64
}

// row has the results of all runs of a figure on one server.
type row struct {
	What   string  `json:"what"`
	Server string  `json:"server"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Unit   string  `json:"unit"`
	Runs   int     `json:"runs"`
	// P50 and P99 are in milliseconds. P99 is the longest duration if there are fewer than 100.
	P50 float64 `json:"p50Milliseconds,omitempty"`
	P99 float64 `json:"p99Milliseconds,omitempty"`
	// Processor is the server's processor time for one operation, in microseconds.
	Processor float64 `json:"serverMicroseconds,omitempty"`
	Peak      float64 `json:"peakMiB,omitempty"`
	// Ratio and ProcessorRatio are the figure and the processor time of the binary under test, divided by this
	// server's.
	Ratio          float64 `json:"ratio,omitempty"`
	ProcessorRatio float64 `json:"processorRatio,omitempty"`
}

// series identifies the samples of a figure on one server.
type series struct{ what, server string }

// table has the samples of all runs.
type table struct {
	// figures and servers are in the order of their first samples.
	figures, servers []string
	samples          map[series][]sample
}

func (t *table) add(what, server string, s sample) {
	if t.samples == nil {
		t.samples = map[series][]sample{}
	}
	if !slices.Contains(t.figures, what) {
		t.figures = append(t.figures, what)
	}
	if !slices.Contains(t.servers, server) {
		t.servers = append(t.servers, server)
	}
	k := series{what, server}
	t.samples[k] = append(t.samples[k], s)
}

// rows returns the rows of all figures and servers. Ratios compare with the first server.
func (t *table) rows() (rows []row) {
	for _, what := range t.figures {
		base := t.samples[series{what, t.servers[0]}]
		for i, server := range t.servers {
			all := t.samples[series{what, server}]
			if len(all) == 0 {
				continue
			}
			r := summary(what, server, all)
			if i > 0 {
				r.Ratio, r.ProcessorRatio = ratio(base, all, value), ratio(base, all, processor)
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func value(s sample) float64      { return s.value }
func processor(s sample) float64  { return float64(s.server.Nanoseconds()) / 1e3 }
func peakMemory(s sample) float64 { return s.peak }
func p50(s sample) float64        { return milliseconds(s.p50) }
func p99(s sample) float64        { return milliseconds(s.p99) }

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func summary(what, server string, all []sample) row {
	of := func(f func(sample) float64) float64 { return median(each(all, f)) }
	values := each(all, value)
	return row{
		What: what, Server: server, Unit: all[0].unit, Runs: len(all),
		Median: median(values), Min: slices.Min(values), Max: slices.Max(values),
		P50: of(p50), P99: of(p99), Processor: of(processor), Peak: of(peakMemory),
	}
}

func each(all []sample, f func(sample) float64) (values []float64) {
	for _, s := range all {
		values = append(values, f(s))
	}
	return values
}

// median returns the median of at least one value. For an even number of values it is the mean of the middle two.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ratio returns the median of the ratios of successive runs, or 0 if it is not known.
func ratio(base, all []sample, of func(sample) float64) float64 {
	var ratios []float64
	for i := range min(len(base), len(all)) {
		if of(all[i]) != 0 {
			ratios = append(ratios, of(base[i])/of(all[i]))
		}
	}
	if len(ratios) == 0 {
		return 0
	}
	return median(ratios)
}

// durations returns the sample of operations whose figure is their duration.
func durations(took []time.Duration) (s sample) {
	s.p50, s.p99 = percentiles(took)
	s.value, s.unit = milliseconds(s.p50), "ms"
	return s
}

// percentiles returns the median and the 99th percentile of durations, or the longest of fewer than 100.
func percentiles(took []time.Duration) (p50, p99 time.Duration) {
	if len(took) == 0 {
		return 0, 0
	}
	slices.Sort(took)
	return took[len(took)/2], took[len(took)*99/100]
}

func show(to io.Writer, rows []row, inJSON bool) error {
	if inJSON {
		e := json.NewEncoder(to)
		e.SetIndent("", "  ")
		return e.Encode(rows)
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintf(to, "%s/%s, %d processors, %s, %s, load %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		runtime.Version(), time.Now().Format(time.DateOnly), load())
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "what\tserver\tmedian\tmin\tmax\tunit\truns\tthis/it\tp50 ms\tp99 ms\tserver µs\tthis/it\tpeak MiB\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", r.What, r.Server, number(r.Median),
			number(r.Min), number(r.Max), r.Unit, r.Runs, number(r.Ratio), number(r.P50), number(r.P99),
			number(r.Processor), number(r.ProcessorRatio), number(r.Peak))
	}
	return w.Flush()
}

// number formats a number with at least three significant digits. 0 is "-".
func number(f float64) string {
	switch {
	case f == 0:
		return "-"
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.3g", f)
}

// load returns the average number of runnable processes in the last minute.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}
