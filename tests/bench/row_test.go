package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMedianIsTheMiddleOfTheValues(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{7}, 7}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 5}, 5}, {[]float64{8, 2, 6, 4}, 5}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median of %v: %v, want %v", c.values, got, c.want)
		}
	}
}

func TestP99IsTheLongestOfFewDurations(t *testing.T) {
	var took []time.Duration
	for i := range 200 {
		took = append(took, time.Duration(200-i))
	}
	for n, want := range map[int][2]time.Duration{0: {0, 0}, 1: {200, 200}, 100: {151, 200}, 200: {101, 199}} {
		if p50, p99 := percentiles(slices.Clone(took[:n])); p50 != want[0] || p99 != want[1] {
			t.Errorf("of %d: %v and %v, want %v", n, p50, p99, want)
		}
	}
}

// The machine becomes twice as slow with each run, and the last run of the other server is missing.
func TestRatiosAreOfRunsThatFollowedEachOther(t *testing.T) {
	var all table
	for i, slow := range []float64{1, 2, 4} {
		all.add("get", "this", sample{value: 800 / slow, unit: "/s", server: time.Duration(100*slow) * time.Microsecond})
		if i < 2 {
			all.add("get", "other", sample{value: 400 / slow, unit: "/s", server: time.Duration(50*slow) * time.Microsecond})
		}
	}
	all.add("start", "other", sample{value: 5, unit: "ms"})
	want := []row{
		{What: "get", Server: "this", Median: 400, Min: 200, Max: 800, Unit: "/s", Runs: 3, Processor: 200},
		{What: "get", Server: "other", Median: 300, Min: 200, Max: 400, Unit: "/s", Runs: 2, Processor: 75, Ratio: 2,
			ProcessorRatio: 2},
		{What: "start", Server: "other", Median: 5, Min: 5, Max: 5, Unit: "ms", Runs: 1},
	}
	if diff := cmp.Diff(want, all.rows()); diff != "" {
		t.Error(diff)
	}
}

func TestShowPrintsOneLineForEachRow(t *testing.T) {
	var out strings.Builder
	if err := show(&out, []row{
		{What: "get", Server: "this", Median: 12345.6, Min: 0.123, Max: 99.94, Unit: "/s", Runs: 3, Processor: 101.4},
		{What: "start", Server: "other", Median: 5, Min: 5, Max: 5, Unit: "ms", Runs: 1, Ratio: 0.5},
	}, false); err != nil {
		t.Fatal(err)
	}
	_, lines, _ := strings.Cut(out.String(), "\n\n")
	want := `
   what  server  median    min   max  unit  runs  this/it  p50 ms  p99 ms  server µs  this/it  peak MiB
    get    this   12346  0.123  99.9    /s     3        -       -       -        101        -         -
  start   other       5      5     5    ms     1      0.5       -       -          -        -         -
`
	if diff := cmp.Diff(want[1:], lines); diff != "" {
		t.Error(diff)
	}
}

func TestOwnProcessHasTimeAndMemory(t *testing.T) {
	if got, err := processorTime(os.Getpid()); got <= 0 || err != nil {
		t.Errorf("processor time: %v, %v", got, err)
	}
	if resident, peak, err := memory(os.Getpid()); resident <= 1 || peak < resident || err != nil {
		t.Errorf("memory: %v of %v, %v", resident, peak, err)
	}
	if _, _, err := memory(1 << 30); err == nil {
		t.Error("the memory of a process that does not exist is no error")
	}
}
