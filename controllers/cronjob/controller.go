package cronjob

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// New returns the controller of CronJobs.
func New() workload.Controller {
	return workload.Controller{
		Name: "cronjob-controller", For: workload.CronJobs, Owns: []workload.Resource{workload.Jobs}, Decide: decide,
		Awaits: "spec.schedule",
	}
}

func decide(v workload.View, now time.Time) workload.Plan {
	c, _ := v.Object.(*batchv1.CronJob)
	if c == nil {
		return workload.Plan{}
	}
	plan := Decide(View{
		CronJob: c, Jobs: workload.Controlled[*batchv1.Job](v, c.UID), Failed: v.Failed != nil,
		Taken: func(name string) bool { return workload.Get[*batchv1.Job](v, c.Namespace, name) != nil },
	}, now)
	out := workload.Plan{
		Do: slices.Concat(removal(plan.Replace), creation(plan.Create), removal(plan.Prune)), Events: plan.Events,
	}
	if plan.Status != nil {
		next := c.DeepCopy()
		next.Status = *plan.Status
		out.Status = next
	}
	if !plan.Again.IsZero() {
		out.Again = max(time.Millisecond, plan.Again.Sub(now))
	}
	return out
}

func creation(j *batchv1.Job) []workload.Action {
	if j == nil {
		return nil
	}
	return []workload.Action{workload.Create{Object: j,
		Done:   workload.Normal("SuccessfulCreate", "Created job "+workload.Name),
		Failed: workload.Warning("FailedCreate", "Error creating job: "+workload.Problem)}}
}

// removal deletes Jobs with their pods (cronjob_controllerv2.go: deleteJob).
func removal(jobs []*batchv1.Job) (out []workload.Action) {
	for _, j := range jobs {
		out = append(out, workload.Delete{Object: j, Policy: metav1.DeletePropagationBackground,
			Done:   workload.Normal("SuccessfulDelete", "Deleted job "+workload.Name),
			Failed: workload.Warning("FailedDelete", "Deleted job: "+workload.Problem)})
	}
	return out
}
