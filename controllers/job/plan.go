package job

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/controllers/event"
)

// View is what a decision is about, as of one moment.
type View struct {
	// Job is the Job; it has its defaults, and isn't changed.
	Job *batchv1.Job
	// Pods are those that the Job controls, those among them too that are being deleted.
	Pods []*corev1.Pod
	// Backoff is what is remembered of its failures.
	Backoff Backoff
	// Failed says that pods could not be created or removed just now: the status takes none of that for
	// granted.
	Failed bool
}

// Plan is what is to be done, in the order of the fields.
type Plan struct {
	// Forget are pods whose finalizer is taken, as they are counted in the status that is stored, or need
	// not be (F-13).
	Forget []*corev1.Pod
	// Release are pods whose finalizer is taken before Remove: nobody counts them.
	Release []*corev1.Pod
	// Remove are pods to be deleted.
	Remove []*corev1.Pod
	// Create are new pods, complete but for their names.
	Create []*corev1.Pod
	// Status is the new status; nil if it stays.
	Status *batchv1.JobStatus
	// Events are to be recorded about the Job once Status is stored.
	Events []event.Event
	// Backoff is to be remembered once Status is stored, and Fresh are the pods that it has counted.
	Backoff Backoff
	Fresh   []types.UID
	// Again is when to look again even if nothing happens; zero: not.
	Again time.Time
}

// Limits of one pass (job_controller.go: MaxPodCreateDeletePerSync, MaxUncountedPods).
const (
	mostPods      = 500
	mostUncounted = 500
)

// Managed reports whether the Job is this controller's (spec.managedBy).
func Managed(j *batchv1.Job) bool {
	return j.Spec.ManagedBy == nil || *j.Spec.ManagedBy == batchv1.JobControllerName
}

// Finished reports whether the Job is Complete or Failed.
func Finished(j *batchv1.Job) bool {
	return isTrue(j.Status.Conditions, batchv1.JobComplete) || isTrue(j.Status.Conditions, batchv1.JobFailed)
}

// Abandoned reports whether the pod's finalizer is of no use any more: its Job doesn't count it
// (F-14). owner is the Job that its controller reference names; nil if there is none by that name,
// or if another has the name now (job_controller.go: syncOrphanPod).
func Abandoned(pod *corev1.Pod, owner *batchv1.Job) bool {
	if !tracked(pod) {
		return false
	}
	ref := metav1.GetControllerOfNoCopy(pod)
	switch {
	case ref == nil:
		return true
	case ref.Kind != "Job" || ref.APIVersion != batchv1.SchemeGroupVersion.String():
		return false
	case owner == nil || owner.UID != ref.UID:
		return true
	}
	return Managed(owner) && Finished(owner)
}
