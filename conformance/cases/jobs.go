package cases

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	c "github.com/kubecascade/kubecascade/conformance"
)

func jobs() []Case {
	return group("jobs", jobPage, c.Jobs,
		prove("success-policy", jobsSuccessPolicy, "F-13",
			"Pods that a Job deletes because its success policy is met are not counted as failed."),
	)
}

// indexedJob succeeds with its first index. Its pods are on a node that does not exist, so no kubelet runs them.
const indexedJob = `{"spec":{"completionMode":"Indexed","completions":3,"parallelism":3,"successPolicy":{"rules":` +
	`[{"succeededIndexes":"0"}]},"template":{"spec":{"restartPolicy":"Never","nodeName":` +
	`"conformance.example.com-none","containers":[{"name":"c","image":"conformance.example.com/none"}]}}}}`

// jobsSuccessPolicy finishes the pods as a kubelet does: the first one by itself, the others when they are deleted.
func jobsSuccessPolicy(t *T) {
	t.Right("list", c.Pod, "")
	t.Right("patch", c.Pod, "status")
	kind := c.Job
	kind.Fields = indexedJob
	job := t.Make(kind, "j")
	t.Await(job, c.Has("have three active pods", func(o *Object) bool { return jobCount(o, "active") == 3 }))
	pods := jobPods(t, job)
	setPhase(t, pods[0], "Succeeded")
	for _, pod := range pods[1:] {
		t.Await(pod, c.Terminating)
		setPhase(t, pod, "Failed")
		t.Delete(pod, func(o map[string]any) { o["gracePeriodSeconds"] = 0 })
	}
	done := t.Await(job, c.HasCondition("Complete"))
	t.Check(jobCount(done, "succeeded") == 1 && jobCount(done, "failed") == 0, "one succeeded pod and none that failed",
		fmt.Sprint(done.Object["status"]), nil)
}

// jobPods returns a Job's pods in the order of their indexes. Their names begin with the index.
func jobPods(t *T, job *Object) (pods []*Object) {
	a := t.Send(http.MethodGet, c.Pod.Path(job.GetNamespace(), ""), nil)
	items, _ := a.Body["items"].([]any)
	for _, item := range items {
		pod := &Object{Of: c.Pod}
		pod.Object, _ = item.(map[string]any)
		pods = append(pods, pod)
	}
	t.Check(len(pods) == 3, "three pods", fmt.Sprint(len(pods)), a)
	return pods
}

func setPhase(t *T, pod *Object, phase string) {
	t.Accepted(t.TryPatchStatus(pod, map[string]any{"phase": phase}), http.StatusOK)
}

func jobCount(o *Object, field string) int64 {
	n, _, _ := unstructured.NestedInt64(o.Object, "status", field)
	return n
}
