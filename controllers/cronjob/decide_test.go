package cronjob

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/controllers/workload"
	"github.com/kubecascade/kubecascade/controllers/workload/workloadtest"
)

// world has a CronJob and its Jobs.
type world struct {
	*workloadtest.World
	out strings.Builder
}

func (w *world) cron() *batchv1.CronJob {
	return workload.Get[*batchv1.CronJob](w, "ns", "c").DeepCopy()
}

// TestScenarios: commands change the world; after each the CronJob is looked at until nothing is left
// to do, every plan being printed and carried out.
//
//	cronjob T    a new one, created at T (RFC 3339), with the spec that is given as YAML
//	at T         it is T now
//	spec         changes the spec by YAML
//	end NAME HOW a Job ends: Complete, Failed or gone
//	stray NAME   a Job of it appears that it hasn't made
//	delete       it is being deleted
func TestScenarios(t *testing.T) {
	time.Local = time.UTC
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := &world{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.out.Reset()
			w.change(t, d)
			w.run(t)
			return w.out.String()
		})
	})
}

func (w *world) change(t *testing.T, d *datadriven.TestData) {
	switch d.Cmd {
	case "cronjob":
		w.World = workloadtest.New()
		w.at(t, d.CmdArgs[0].Key)
		c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "cron"}}
		c.Spec = batchv1.CronJobSpec{
			ConcurrencyPolicy: batchv1.AllowConcurrent, SuccessfulJobsHistoryLimit: ptr.To[int32](3),
			FailedJobsHistoryLimit: ptr.To[int32](1),
		}
		w.spec(t, c, d.Input)
	case "at":
		w.at(t, d.CmdArgs[0].Key)
	case "spec":
		w.spec(t, w.cron(), d.Input)
	case "end":
		w.end(t, d.CmdArgs[0].Key, d.CmdArgs[1].Key)
	case "stray":
		w.store(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: d.CmdArgs[0].Key}})
	case "delete":
		c := w.cron()
		c.DeletionTimestamp = ptr.To(metav1.NewTime(w.Now))
		w.Put(c)
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
}

func (w *world) at(t *testing.T, text string) {
	var err error
	if w.Now, err = time.Parse(time.RFC3339, text); err != nil {
		t.Fatal(err)
	}
}

func (w *world) spec(t *testing.T, c *batchv1.CronJob, text string) {
	if err := yaml.UnmarshalStrict([]byte(text), &c.Spec); err != nil {
		t.Fatal(err)
	}
	w.Put(c)
}

func (w *world) end(t *testing.T, name, how string) {
	j := workload.Get[*batchv1.Job](w, "ns", name)
	if j == nil {
		t.Fatalf("no Job %s", name)
	}
	if how == "gone" {
		w.Remove(j)
		return
	}
	j = j.DeepCopy()
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobConditionType(how), Status: corev1.ConditionTrue}}
	if how == string(batchv1.JobComplete) {
		j.Status.CompletionTime = ptr.To(metav1.NewTime(w.Now))
	}
	w.Put(j)
}

func (w *world) store(j *batchv1.Job) {
	j = j.DeepCopy()
	j.OwnerReferences = []metav1.OwnerReference{workload.ControllerRef(w.cron())}
	j.Status.StartTime = ptr.To(metav1.NewTime(w.Now))
	w.Put(j)
}

// run executes plans until one is empty.
func (w *world) run(t *testing.T) {
	for range 5 {
		p := New().Decide(workload.View{Reader: w, Key: workload.Key{Namespace: "ns", Name: "c"}, Object: w.cron()}, w.Now)
		for _, a := range p.Do {
			switch a := a.(type) {
			case workload.Create:
				fmt.Fprintf(&w.out, "create %s %v\n", a.Object.GetName(), a.Object.GetAnnotations())
				w.store(a.Object.(*batchv1.Job))
			case workload.Delete:
				fmt.Fprintf(&w.out, "delete %s\n", a.Object.GetName())
				w.Remove(a.Object)
			}
		}
		if p.Status != nil {
			w.Put(p.Status)
			fmt.Fprintf(&w.out, "status %s\n", line(&w.cron().Status))
		}
		for _, e := range p.Events {
			fmt.Fprintf(&w.out, "event %s %s: %s\n", e.Type, e.Reason, e.Message)
		}
		if len(p.Do) == 0 && p.Status == nil {
			if p.Again > 0 {
				fmt.Fprintf(&w.out, "again at %s\n", w.Now.Add(p.Again).UTC().Format(time.RFC3339Nano))
			}
			return
		}
	}
	t.Fatal("no end of plans")
}

func line(s *batchv1.CronJobStatus) string {
	var names []string
	for _, r := range s.Active {
		names = append(names, r.Name)
	}
	text := fmt.Sprintf("active=%v", names)
	if s.LastScheduleTime != nil {
		text += " scheduled=" + s.LastScheduleTime.UTC().Format(time.RFC3339)
	}
	if s.LastSuccessfulTime != nil {
		text += " succeeded=" + s.LastSuccessfulTime.UTC().Format(time.RFC3339)
	}
	return text
}
