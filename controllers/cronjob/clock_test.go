package cronjob

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestClockIsSet: forward, one Job is made of all the times that were passed over; back, none is made a second time, as
// with upstream (cronjob_controllerv2.go: syncCronJob goes by lastScheduleTime), and the controller does not spin.
func TestClockIsSet(t *testing.T) {
	w := workloadtest.New()
	w.Put(&batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "a"},
		Spec: batchv1.CronJobSpec{Schedule: "0 * * * *", ConcurrencyPolicy: batchv1.AllowConcurrent, Suspend: new(bool)}})
	c := New()
	again := func() time.Duration {
		o := w.Get(workload.CronJobs, "a", "c")
		return c.Decide(workload.View{Reader: w, Key: workload.KeyOf(o), Object: o}, w.Now).Again
	}
	jobs := func(what string, want int) {
		t.Helper()
		w.Settle(c)
		if got := len(w.All(workload.Jobs, "a")); got != want {
			t.Errorf("%s: %d jobs, want %d", what, got, want)
		}
		if d := again(); d < time.Second {
			t.Errorf("%s: again in %v", what, d)
		}
	}
	jobs("at first", 0)
	w.Now = w.Now.Add(5 * time.Hour)
	jobs("set forward", 1)
	w.Now = w.Now.Add(-3 * time.Hour)
	jobs("set back", 1)
	w.Now = w.Now.Add(4 * time.Hour)
	jobs("caught up", 2)
}
