package loopback_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const quotas = "/api/v1/namespaces/default/resourcequotas"

// counted starts a server with the controller of quotas, which ends with the test.
func counted(t *testing.T) *apiservertest.Server {
	s := apiservertest.Start(t, nil)
	starts(t, s, "resourcequota-controller")
	return s
}

// says waits until the status of the quota q reports that.
func says(t *testing.T, w *apiservertest.Watch, hard, used string) {
	t.Helper()
	last := ""
	for {
		e, err := w.Next()
		if err != nil {
			t.Fatalf("waiting for hard %s, used %s, after %s: %v", hard, used, last, err)
		}
		h, _, _ := unstructured.NestedStringMap(e.Object.Object, "status", "hard")
		u, _, _ := unstructured.NestedStringMap(e.Object.Object, "status", "used")
		if last = fmt.Sprint(h, u); fmt.Sprint(h) == hard && fmt.Sprint(u) == used {
			return
		}
	}
}

// A quota is counted when it is created or changed. Creations add to its usage, and it is counted again when an object
// is removed or finishes.
func TestQuota(t *testing.T) {
	s := counted(t)
	do(t, s, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
	do(t, s, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"b"}}`)
	w := s.Watch(quotas + "?watch=1")
	do(t, s, "POST", quotas, `{"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"3"}}}`)
	says(t, w, "map[configmaps:3]", "map[configmaps:2]")
	do(t, s, "POST", "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"c"}}`)
	says(t, w, "map[configmaps:3]", "map[configmaps:3]")
	do(t, s, "DELETE", "/api/v1/namespaces/default/configmaps/a", "")
	says(t, w, "map[configmaps:3]", "map[configmaps:2]")

	do(
		t, s, "PUT", quotas+"/q",
		`{"metadata":{"name":"q"},"spec":{"hard":{"pods":"1","count/pods":"9","count/nothings.example.com":"1"}}}`,
	)
	const hard = "map[count/nothings.example.com:1 count/pods:9 pods:1]"
	says(t, w, hard, "map[count/pods:0 pods:0]")
	do(t, s, "POST", pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	says(t, w, hard, "map[count/pods:1 pods:1]")
	do(t, s, "PATCH", pods+"/p/status", `{"status":{"phase":"Succeeded"}}`)
	says(t, w, hard, "map[count/pods:1 pods:0]")
	do(t, s, "DELETE", pods+"/p?gracePeriodSeconds=0", "")
	says(t, w, hard, "map[count/pods:0 pods:0]")
}
