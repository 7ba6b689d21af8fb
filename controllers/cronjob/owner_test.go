package cronjob

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// TestOwnersOfJobs (V-085): Jobs are those that the CronJob controls, whatever the name of another's owner. One of its
// own that exists already, without being in the status, is taken over by its name, in the CronJob's namespace.
func TestOwnersOfJobs(t *testing.T) {
	w := workloadtest.New()
	w.Put(&batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "a"},
		Spec: batchv1.CronJobSpec{Schedule: "* * * * *", ConcurrencyPolicy: batchv1.AllowConcurrent, Suspend: new(bool)}})
	c := New()
	get := func() *batchv1.CronJob { return workload.Get[*batchv1.CronJob](w, "a", "c") }
	job := func(name string, owner metav1.OwnerReference) {
		owner.Controller = new(bool)
		*owner.Controller = true
		w.Put(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "a",
			OwnerReferences: []metav1.OwnerReference{owner}}})
	}
	unexpected := func(want bool) {
		t.Helper()
		if did := w.Pass(c, workload.KeyOf(get())); strings.Contains(did, "UnexpectedJob") != want {
			t.Errorf("the pass did\n%s", did)
		}
	}
	job("stray", metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Foo", Name: "c", UID: "foo"})
	job("other", metav1.OwnerReference{APIVersion: "batch/v1", Kind: "CronJob", Name: "c", UID: "an earlier one"})
	unexpected(false)

	w.Now = w.Now.Truncate(time.Minute).Add(time.Minute)
	own := newJob(get(), w.Now, time.UTC)
	own.UID = "made before"
	w.Put(own)
	w.Settle(c)
	if active := get().Status.Active; len(active) != 1 || active[0].Name != own.Name || active[0].Namespace != "a" ||
		active[0].UID != own.UID {
		t.Errorf("active: %+v", active)
	}
	job("x", metav1.OwnerReference{APIVersion: "batch/v1", Kind: "CronJob", Name: "c", UID: get().UID})
	unexpected(true)
}
