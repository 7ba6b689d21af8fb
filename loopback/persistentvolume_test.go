package loopback_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/controllers/persistentvolume"
)

// eventually waits for an event of the watch that the test wants, and returns its object.
func eventually(
	t testing.TB, w *apiservertest.Watch, what string, want func(apiservertest.Event) bool) *unstructured.Unstructured {
	t.Helper()
	last := ""
	for {
		e, err := w.Next()
		if err != nil {
			t.Fatalf("waiting for %s, after %s: %v", what, last, err)
		}
		if want(e) {
			return e.Object
		}
		last = fmt.Sprint(e.Type, " ", e.Object.Object)
	}
}

// TestVolumesTogether: of many claims each gets a volume of its own, even if several passes run at a time, and the
// others get none. A released volume is bound to no claim.
func TestVolumesTogether(t *testing.T) {
	s := owning(t, nil, persistentvolume.Claims(), persistentvolume.Volumes())
	w, of := s.Watch(claims+"?watch=1"), s.Watch(volumes+"?watch=1")
	const n, there = 12, 7
	for i := range n {
		do(t, s, "POST", claims, fmt.Sprintf(
			`{"metadata":{"name":"c%d"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1"}}}}`, i))
	}
	for i := range there {
		do(t, s, "POST", volumes, fmt.Sprintf(`{"metadata":{"name":"v%d"},"spec":{"accessModes":["ReadWriteOnce"],
			"capacity":{"storage":"1"},"persistentVolumeReclaimPolicy":"Retain","hostPath":{"path":"/x"}}}`, i))
	}
	claimed := map[string]string{}
	for len(claimed) < there {
		o := eventually(t, w, "a bound claim", func(e apiservertest.Event) bool {
			return has("status.phase", "Bound")(e.Object.Object)
		})
		volume, _, _ := unstructured.NestedString(o.Object, "spec", "volumeName")
		if other := claimed[volume]; other != "" && other != o.GetName() {
			t.Fatalf("%s and %s are bound to %s", other, o.GetName(), volume)
		}
		claimed[volume] = o.GetName()
	}
	do(t, s, "PATCH", claims+"/"+claimed["v0"], `{"metadata":{"finalizers":null}}`)
	do(t, s, "DELETE", claims+"/"+claimed["v0"], "")
	sees(t, of, "v0", has("status.phase", "Released", "spec.claimRef.name", claimed["v0"]))
	do(t, s, "POST", volumes, `{"metadata":{"name":"more"},"spec":{"accessModes":["ReadWriteOnce"],
		"capacity":{"storage":"1"},"persistentVolumeReclaimPolicy":"Retain","hostPath":{"path":"/x"}}}`)
	next := sees(t, w, "", has("status.phase", "Bound", "spec.volumeName", "more"))
	for volume, name := range claimed {
		if name == next.GetName() {
			t.Errorf("%s is bound to %s, too", name, volume)
		}
	}
}
