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
		Decide: workload.Expiring(expiry, workload.Delete{Exact: true, Policy: metav1.DeletePropagationForeground}),
	}
}

// expiry is when the Job is to be deleted; zero if it has no TTL or hasn't finished.
func expiry(j *batchv1.Job) (at time.Time) {
	if j.Spec.TTLSecondsAfterFinished == nil {
		return at
	}
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue &&
			!c.LastTransitionTime.IsZero() {
			return c.LastTransitionTime.Add(time.Duration(*j.Spec.TTLSecondsAfterFinished) * time.Second)
		}
	}
	return at
}
