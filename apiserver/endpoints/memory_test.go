package endpoints_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// TestWritesShareMemory: a write that needs more than half of the memory is rejected with 413. A write waits while
// another write of the same user holds the memory that it needs for its bytes or its values. Writes of other users are
// served in the meantime.
func TestWritesShareMemory(t *testing.T) {
	long := func(size int) map[string]string { return map[string]string{"k": strings.Repeat("x", size)} }
	values := map[string]string{}
	for i := range 9000 {
		values[fmt.Sprint(i)] = ""
	}
	const most = 300 << 10 // more than half of what a user may have
	for what, first := range map[string]map[string]string{"bytes": long(most), "values": values} {
		t.Run(what, func(t *testing.T) {
			store := &held{storagetest.Open(t), "/held", make(chan struct{}), make(chan struct{})}
			s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
				c.MemoryInFlight = 16 << 20
			}})
			must(t, s.Do("POST", configmaps, configmap("large", long(512<<10), nil)), http.StatusRequestEntityTooLarge)
			results := make(chan apiservertest.Answer)
			create := func(name string, data map[string]string) {
				go func() {
					results <- s.Do("POST", configmaps, configmap(name, data, nil), "Impersonate-User", "alice")
				}()
			}
			create("held", first)
			<-store.entered
			create("waits", long(most))
			must(t, s.Do("POST", configmaps, configmap("other", long(most), nil), "Impersonate-User", "bob"),
				http.StatusCreated)
			must(t, s.Do("GET", configmaps+"/waits", nil), http.StatusNotFound)
			close(store.done)
			for range 2 {
				must(t, <-results, http.StatusCreated)
			}
			// Only the request for the metric holds some, once the handlers of the others have ended.
			drops(t, s, 20<<10, "kubecascade_inflight_memory_held_bytes")
		})
	}
}

// TestManyValues: a document with too many values is rejected before it is decoded.
func TestManyValues(t *testing.T) {
	s := apiservertest.Start(t, nil)
	body := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[` +
		strings.Repeat("{},", 125_000) + `{}]}}`
	const pods = "/api/v1/namespaces/default/pods"
	for _, c := range [][3]string{
		{"POST", pods, "application/json"}, {"POST", pods, "application/yaml"}, {"PATCH", pods + "/a", mergePatch},
		{"PATCH", pods + "/a?fieldManager=m", "application/apply-patch+yaml"},
	} {
		a := must(t, s.Do(c[0], c[1], body, "Content-Type", c[2]), http.StatusRequestEntityTooLarge)
		if !strings.Contains(a.Status().Message, "more than 250000 values") {
			t.Errorf("%v: %s", c, a.Body)
		}
	}
}
