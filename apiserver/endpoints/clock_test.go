package endpoints_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestClockIsSet: the wall clock is set back and forward by hours while the server runs. Deletions still complete, and
// watches send them in order. The order of writes is that of their revisions, independent of timestamps.
func TestClockIsSet(t *testing.T) {
	var shift atomic.Int64
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(shift.Load())) }
	}})
	const pods = "/api/v1/namespaces/default/pods"
	w := s.Watch(pods + "?watch=1")
	expect := func(typ, name string) {
		t.Helper()
		if e := next(t, w); e.Type != typ || e.Object.GetName() != name {
			t.Fatalf("%s %s, want %s %s", e.Type, e.Object.GetName(), typ, name)
		}
	}
	create := func(name string) {
		t.Helper()
		pod := `{"metadata":{"name":"` + name + `"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`
		must(t, s.Do("POST", pods, pod), http.StatusCreated)
		expect("ADDED", name)
	}
	for _, jump := range []time.Duration{-5 * time.Hour, 7 * time.Hour} {
		create("ends")
		must(t, s.Do("DELETE", pods+"/ends", nil), http.StatusOK) // with 30 s of grace
		expect("MODIFIED", "ends")
		create("before")
		shift.Add(int64(jump))
		must(t, s.Do("DELETE", pods+"/ends", nil), http.StatusOK) // as before
		must(t, s.Do("PATCH", pods+"/ends", `{"metadata":{"labels":{"a":"b"}}}`), http.StatusOK)
		expect("MODIFIED", "ends")
		must(t, s.Do("DELETE", pods+"/ends", `{"gracePeriodSeconds":5}`), http.StatusOK)
		expect("MODIFIED", "ends")
		must(t, s.Do("DELETE", pods+"/ends", `{"gracePeriodSeconds":0}`), http.StatusOK) // as a kubelet does
		must(t, s.Do("GET", pods+"/ends", nil), http.StatusNotFound)
		for e := next(t, w); e.Type != "DELETED"; e = next(t, w) {
			if e.Type != "MODIFIED" || e.Object.GetName() != "ends" {
				t.Fatalf("%s %s", e.Type, e.Object.GetName())
			}
		}
		create("after")
		for _, name := range []string{"before", "after"} {
			must(t, s.Do("DELETE", pods+"/"+name, `{"gracePeriodSeconds":0}`), http.StatusOK)
			for e := next(t, w); e.Type != "DELETED"; e = next(t, w) {
				if e.Object.GetName() != name {
					t.Fatalf("%s %s", e.Type, e.Object.GetName())
				}
			}
		}
	}
}
