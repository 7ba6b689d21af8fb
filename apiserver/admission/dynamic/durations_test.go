package dynamic

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/kubecascade/kubecascade/internal/seed"
)

// TestDurationsTwin compares durations with prometheus.Histogram.
func TestDurationsTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 0))
	twin := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "x", Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5},
	})
	var d durations
	for range 1000 {
		took := time.Duration(r.Int64N(int64(4 * time.Second)))
		if r.IntN(2) == 0 {
			took = bounds[r.IntN(len(bounds))] // a bound belongs to its bucket
		}
		d.observe(took)
		twin.Observe(took.Seconds())
	}
	var got, want dto.Metric
	if err := d.metric("a", "b", "c", "d").Write(&got); err != nil {
		t.Fatal(err)
	}
	if err := twin.Write(&want); err != nil {
		t.Fatal(err)
	}
	if diff := got.GetHistogram().GetSampleSum() - want.GetHistogram().GetSampleSum(); diff < -1e-6 || diff > 1e-6 {
		t.Errorf("the sum differs by %v", diff)
	}
	got.Histogram.SampleSum, want.Histogram.SampleSum = nil, nil
	if diff := cmp.Diff(want.GetHistogram(), got.GetHistogram(), protocmp.Transform(),
		protocmp.IgnoreFields(&dto.Histogram{}, "created_timestamp")); diff != "" {
		t.Error(diff)
	}
}
