package loopback_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/controllers/job"
)

const jobs = "/apis/batch/v1/namespaces/default/jobs"

// eventually waits for an event of the watch that the test wants.
func eventually(
	t *testing.T, w *apiservertest.Watch, what string, want func(apiservertest.Event) bool,
) *unstructured.Unstructured {
	t.Helper()
	for {
		e, err := w.Next()
		if err != nil {
			t.Fatalf("waiting for %s: %v", what, err)
		}
		if want(e) {
			return e.Object
		}
	}
}

// added waits for n new objects.
func added(t *testing.T, w *apiservertest.Watch, n int) (out []*unstructured.Unstructured) {
	t.Helper()
	for range n {
		out = append(out, eventually(t, w, "a new object", func(e apiservertest.Event) bool { return e.Type == "ADDED" }))
	}
	return out
}

// fulfils reports whether the object has the condition.
func fulfils(o *unstructured.Unstructured, kind string) bool {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return slices.ContainsFunc(list, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["type"] == kind && m["status"] == "True"
	})
}

// finish sets a pod's phase, as a kubelet does.
func finish(t *testing.T, s *apiservertest.Server, name, phase string) {
	t.Helper()
	do(t, s, "PATCH", pods+"/"+name+"/status", fmt.Sprintf(`{"status":{"phase":%q}}`, phase))
}

func manifest(name, spec string) string {
	return fmt.Sprintf(
		`{"metadata":{"name":%q},"spec":{%s,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`,
		name, spec,
	)
}

// F-13, I-01: pods have the finalizer and the reference; finished ones are counted once, and the Job ends.
func TestJobCompletes(t *testing.T) {
	s := owning(t, nil, job.New(), job.Orphans())
	w, made := s.Watch(jobs+"?watch=true"), s.Watch(pods+"?watch=true")
	do(t, s, "POST", jobs, strings.Replace(
		manifest("j", `"completions":3,"parallelism":2`), `"template":{`, `"template":{"metadata":{"labels":{"app":"j"}},`, 1,
	))
	// A Job without labels shows those of its template, the selector's too.
	if l := s.Do("GET", jobs+"/j", nil).Object().GetLabels(); len(l) != 5 || l["app"] != "j" ||
		l["batch.kubernetes.io/job-name"] != "j" {
		t.Errorf("labels %v", l)
	}
	first := added(t, made, 2)
	for _, p := range first {
		controlled(t, p, "Job", "j")
		if f := p.GetFinalizers(); !slices.Equal(f, []string{"batch.kubernetes.io/job-tracking"}) ||
			p.GetGenerateName() != "j-" {
			t.Errorf("%s: finalizers %v, generated from %s", p.GetName(), f, p.GetGenerateName())
		}
	}
	finish(t, s, first[0].GetName(), "Succeeded")
	third := added(t, made, 1)[0]
	finish(t, s, first[1].GetName(), "Succeeded")
	finish(t, s, third.GetName(), "Succeeded")
	met := eventually(t, w, "the criteria to be met", func(e apiservertest.Event) bool {
		return fulfils(e.Object, "SuccessCriteriaMet")
	})
	if fulfils(met, "Complete") {
		t.Error("the Job is complete before its pods are counted")
	}
	done := eventually(t, w, "the Job to complete", func(e apiservertest.Event) bool {
		return fulfils(e.Object, "Complete")
	})
	n, _, _ := unstructured.NestedNumberAsFloat64(done.Object, "status", "succeeded")
	uncounted, _, _ := unstructured.NestedMap(done.Object, "status", "uncountedTerminatedPods")
	if n != 3 || len(uncounted) > 0 {
		t.Errorf("%v succeeded, uncounted %v", n, uncounted)
	}
	for _, p := range s.Do("GET", pods, nil).List().Items {
		if len(p.GetFinalizers()) > 0 {
			t.Errorf("%s still has %v", p.GetName(), p.GetFinalizers())
		}
	}
}

// A Job fails when its limit is exceeded: its other pods go, and count as failed ones.
func TestJobFails(t *testing.T) {
	s := owning(t, nil, job.New(), job.Orphans())
	w, made := s.Watch(jobs+"?watch=true"), s.Watch(pods+"?watch=true")
	do(t, s, "POST", jobs, manifest("j", `"completions":2,"parallelism":2,"completionMode":"Indexed","backoffLimit":0`))
	p := added(t, made, 2)
	finish(t, s, p[0].GetName(), "Failed")
	gone(t, made, p[1].GetName())
	done := eventually(t, w, "the Job to fail", func(e apiservertest.Event) bool { return fulfils(e.Object, "Failed") })
	if n, _, _ := unstructured.NestedNumberAsFloat64(done.Object, "status", "failed"); n != 2 {
		t.Errorf("%v failed", n)
	}
}

// F-14: pods of a Job that is gone aren't held by the finalizer, and a suspended Job has none.
func TestJobsPodsAreLetGo(t *testing.T) {
	s := owning(t, nil, job.New(), job.Orphans())
	w, made := s.Watch(jobs+"?watch=true"), s.Watch(pods+"?watch=true")
	do(t, s, "POST", jobs, manifest("orphaned", `"completions":1`))
	p := added(t, made, 1)[0]
	do(t, s, "DELETE", jobs+"/orphaned", `{"propagationPolicy":"Background"}`)
	eventually(t, made, "the finalizer to go", func(e apiservertest.Event) bool {
		return e.Object.GetName() == p.GetName() && len(e.Object.GetFinalizers()) == 0
	})
	do(t, s, "POST", jobs, manifest("suspended", `"completions":1,"suspend":true`))
	eventually(t, w, "the Job to be suspended", func(e apiservertest.Event) bool { return fulfils(e.Object, "Suspended") })
	do(t, s, "PATCH", jobs+"/suspended", `{"spec":{"suspend":false}}`)
	p = added(t, made, 1)[0]
	do(t, s, "PATCH", jobs+"/suspended", `{"spec":{"suspend":true}}`)
	gone(t, made, p.GetName())
	if a := s.Do("GET", jobs+"/suspended", nil); a.Code != http.StatusOK {
		t.Fatalf("%d %s", a.Code, a.Body)
	}
}
