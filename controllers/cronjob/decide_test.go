package cronjob

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// world is a CronJob and its Jobs, as an API server would hold them.
type world struct {
	cron *batchv1.CronJob
	jobs []*batchv1.Job
	now  time.Time
	out  strings.Builder
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
		w.at(t, d.CmdArgs[0].Key)
		w.cron = &batchv1.CronJob{
			ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "ns", UID: "cron", CreationTimestamp: metav1.NewTime(w.now)},
		}
		w.cron.Spec = batchv1.CronJobSpec{
			ConcurrencyPolicy: batchv1.AllowConcurrent, SuccessfulJobsHistoryLimit: ptr.To[int32](3),
			FailedJobsHistoryLimit: ptr.To[int32](1),
		}
		w.jobs = nil
		w.spec(t, d.Input)
	case "at":
		w.at(t, d.CmdArgs[0].Key)
	case "spec":
		w.spec(t, d.Input)
	case "end":
		w.end(t, d.CmdArgs[0].Key, d.CmdArgs[1].Key)
	case "stray":
		w.store(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: d.CmdArgs[0].Key}})
	case "delete":
		w.cron.DeletionTimestamp = ptr.To(metav1.NewTime(w.now))
	default:
		t.Fatalf("unknown command %s", d.Cmd)
	}
}

func (w *world) at(t *testing.T, text string) {
	var err error
	if w.now, err = time.Parse(time.RFC3339, text); err != nil {
		t.Fatal(err)
	}
}

func (w *world) spec(t *testing.T, text string) {
	if err := yaml.UnmarshalStrict([]byte(text), &w.cron.Spec); err != nil {
		t.Fatal(err)
	}
}

func (w *world) end(t *testing.T, name, how string) {
	i := slices.IndexFunc(w.jobs, func(j *batchv1.Job) bool { return j.Name == name })
	if i < 0 {
		t.Fatalf("no Job %s", name)
	}
	if how == "gone" {
		w.jobs = slices.Delete(w.jobs, i, i+1)
		return
	}
	j := w.jobs[i].DeepCopy()
	w.jobs[i] = j
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobConditionType(how), Status: corev1.ConditionTrue}}
	if how == string(batchv1.JobComplete) {
		j.Status.CompletionTime = ptr.To(metav1.NewTime(w.now))
	}
}

func (w *world) store(j *batchv1.Job) {
	j = j.DeepCopy()
	j.UID, j.CreationTimestamp, j.Status.StartTime = types.UID("uid-"+j.Name), metav1.NewTime(w.now), ptr.To(
		metav1.NewTime(w.now),
	)
	w.jobs = append(w.jobs, j)
}

func (w *world) remove(what string, jobs []*batchv1.Job) {
	for _, gone := range jobs {
		fmt.Fprintf(&w.out, "%s %s\n", what, gone.Name)
		w.jobs = slices.DeleteFunc(w.jobs, func(j *batchv1.Job) bool { return j.Name == gone.Name })
	}
}

// run carries plans out until there is nothing in one.
func (w *world) run(t *testing.T) {
	for range 5 {
		p := Decide(View{CronJob: w.cron, Jobs: w.jobs}, w.now)
		again := len(p.Replace)+len(p.Prune) > 0 || p.Create != nil || p.Status != nil
		w.remove("replace", p.Replace)
		if p.Create != nil {
			fmt.Fprintf(&w.out, "create %s %v\n", p.Create.Name, p.Create.Annotations)
			w.store(p.Create)
		}
		w.remove("prune", p.Prune)
		if p.Status != nil {
			w.cron = w.cron.DeepCopy()
			w.cron.Status = *p.Status
			fmt.Fprintf(&w.out, "status %s\n", line(p.Status))
		}
		for _, e := range p.Events {
			fmt.Fprintf(&w.out, "event %s %s: %s\n", e.Type, e.Reason, e.Message)
		}
		if !again {
			if !p.Again.IsZero() {
				fmt.Fprintf(&w.out, "again at %s\n", p.Again.UTC().Format(time.RFC3339Nano))
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
