package loopback_test

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// A pod on a node that is out of service is removed as soon as it is deleted: no kubelet confirms its end.
func TestPodGarbage(t *testing.T) {
	s := apiservertest.Start(t, nil)
	starts(t, s, "pod-garbage-collector-controller")
	w := s.Watch(pods + "?watch=true")
	do(t, s, "POST", nodes, `{"metadata":{"name":"n"}}`)
	do(t, s, "POST", pods, pod("p", `"emptyDir":{}`))
	do(t, s, "DELETE", pods+"/p", "")
	eventually(t, w, "the pod to wait", func(e apiservertest.Event) bool { return e.Object.GetDeletionTimestamp() != nil })
	do(t, s, "PATCH", nodes+"/n", `{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]}}`)
	gone(t, w, "p")
}

// A finished Job is deleted after its ttlSecondsAfterFinished.
func TestJobExpires(t *testing.T) {
	s := apiservertest.Start(t, nil)
	starts(t, s, "job-controller", "ttl-after-finished-controller")
	w := s.Watch(jobs + "?watch=true")
	do(t, s, "POST", jobs, manifest("j", `"completions":0,"ttlSecondsAfterFinished":1`))
	o := eventually(t, w, "the Job to be deleted", func(e apiservertest.Event) bool {
		return e.Object.GetDeletionTimestamp() != nil
	})
	if f := o.GetFinalizers(); len(f) != 1 || f[0] != "foregroundDeletion" || !fulfils(o, "Complete") {
		t.Errorf("finalizers %v, conditions %v", f, o.Object["status"])
	}
}
