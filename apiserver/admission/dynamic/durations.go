package dynamic

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// bounds are those of the buckets (L-112).
var bounds = [...]time.Duration{
	5 * time.Millisecond, 25 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond, time.Second,
	2500 * time.Millisecond,
}

// durations is a histogram. A create is observed by two dozen of them, at less than half the cost of
// prometheus.Histogram, which guarantees that its sum is that of what it has counted; here an observation that is being
// made may be in one and not in the other.
type durations struct {
	// counts are the observations up to each bound, and those beyond all, each in one place alone.
	counts [len(bounds) + 1]atomic.Uint64
	// sum is in nanoseconds.
	sum atomic.Int64
}

func (d *durations) observe(took time.Duration) {
	i := 0
	for i < len(bounds) && took > bounds[i] {
		i++
	}
	d.counts[i].Add(1)
	d.sum.Add(int64(took))
}

// metric is the histogram with the values of its labels.
func (d *durations) metric(labels ...string) prometheus.Metric {
	buckets, count := make(map[float64]uint64, len(bounds)), uint64(0)
	for i, bound := range bounds {
		count += d.counts[i].Load()
		buckets[bound.Seconds()] = count
	}
	count += d.counts[len(bounds)].Load()
	sum := time.Duration(d.sum.Load()).Seconds()
	return prometheus.MustNewConstHistogram(pluginDurations, count, sum, buckets, labels...)
}
