package controllers

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/controllers/workload"
)

// finishedJobs deletes finished Jobs after their ttlSecondsAfterFinished (K pkg/controller/ttlafterfinished). A Job is
// deleted only in the state for which that was decided. Its pods are deleted before it, by foreground deletion.
func finishedJobs() workload.Controller {
	return workload.Controller{
		Name: "ttl-after-finished-controller", For: workload.Jobs,
		Awaits: "spec.ttlSecondsAfterFinished",
		Decide: workload.Present(func(_ workload.View, j *batchv1.Job, now time.Time) (plan workload.Plan) {
			end, ok := expiry(j)
			switch {
			case !ok || dying(j):
			case now.Before(end):
				plan.Again = end.Sub(now)
			default:
				plan.Do = append(plan.Do,
					workload.Delete{Object: j, Exact: true, Policy: metav1.DeletePropagationForeground})
			}
			return plan
		}),
	}
}

// expiry is when the Job is to be deleted; ok is false if it has no TTL or hasn't finished.
func expiry(j *batchv1.Job) (at time.Time, ok bool) {
	if j.Spec.TTLSecondsAfterFinished == nil {
		return at, false
	}
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue &&
			!c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.Add(time.Duration(*j.Spec.TTLSecondsAfterFinished) * time.Second), true
		}
	}
	return at, false
}
