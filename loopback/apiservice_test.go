package loopback_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices"

// shows waits for an event on an object whose printed form contains the text.
func shows(t *testing.T, w *apiservertest.Watch, name, text string) *unstructured.Unstructured {
	t.Helper()
	return eventually(t, w, name+" with "+text, func(e apiservertest.Event) bool {
		data, err := e.Object.MarshalJSON()
		return err == nil && e.Object.GetName() == name && e.Type != "DELETED" && strings.Contains(string(data), text)
	})
}

// TestOwnVersionsAreRegistered: every built-in group version but APIServices' own has an APIService, as
// upstream's table says (V-009); one that is deleted is made again by the next start only.
func TestOwnVersionsAreRegistered(t *testing.T) {
	s := apiservertest.Start(t, nil)
	w := s.Watch(apiServices + "?watch=1")
	stop := starts(t, s, "apiservice-controller")
	wanted := map[string]string{
		"v1.":                        "<nil> v1 18000 1",
		"v2.autoscaling":             "autoscaling v2 17500 30",
		"v1.apps":                    "apps v1 17800 15",
		"v1.batch":                   "batch v1 17400 15",
		"v1.policy":                  "policy v1 17100 15",
		"v1.node.k8s.io":             "node.k8s.io v1 16300 15",
		"v1.autoscaling":             "autoscaling v1 17500 15",
		"v1.storagemigration.k8s.io": "storagemigration.k8s.io v1 15800 15",
	}
	for len(wanted) > 0 {
		e, err := w.Next()
		if err != nil {
			t.Fatalf("%v; missing: %v", err, wanted)
		}
		name, spec := e.Object.GetName(), e.Object.Object["spec"].(map[string]any)
		found := fmt.Sprint(
			spec["group"], " ", spec["version"], " ", spec["groupPriorityMinimum"], " ", spec["versionPriority"])
		if want, ok := wanted[name]; ok && found != want {
			t.Errorf("%s: %q", name, found)
		}
		if labels := fmt.Sprint(e.Object.GetLabels()); labels != "map[kube-aggregator.kubernetes.io/automanaged:onstart]" {
			t.Errorf("%s: labels %s", name, labels)
		}
		delete(wanted, name)
	}
	a := s.Do("GET", apiServices+"/v1.apps", nil, "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	expect(t, a, http.StatusOK, `"cells":["v1.apps","Local","True",`)
	do(t, s, "DELETE", apiServices+"/v1.apps", "")
	do(t, s, "PATCH", apiServices+"/v1.batch", `{"spec":{"versionPriority":3}}`)
	do(t, s, "GET", "/apis/apps/v1", "")
	stop()
	expect(t, s.Do("GET", apiServices+"/v1.apps", nil), http.StatusNotFound)
	starts(t, s, "apiservice-controller")
	shows(t, w, "v1.batch", `"versionPriority":15`)
	again := s.Watch(apiServices + "?watch=1")
	shows(t, again, "v1.apps", `"reason":"Local"`)
}

// TestDefinedVersionsAreRegistered: a definition's versions have APIServices as long as any definition serves
// them, whatever is done to those; those of users are not changed.
func TestDefinedVersionsAreRegistered(t *testing.T) {
	s := defined(t, nil)
	w := s.Watch(apiServices + "?watch=1")
	starts(t, s, "apiservice-controller")
	do(t, s, "POST", apiServices,
		`{"metadata":{"name":"v3.example.com"},"spec":{"group":"example.com","version":"v3","groupPriorityMinimum":5,"versionPriority":5}}`)
	define(t, s, widgets(
		"widgets", "Widget", version("v1", true, size, ""), version("v2", false, size, ""), version("v3", false, size, ""),
	))
	define(t, s, widgets("gadgets", "Gadget", version("v1", true, size, "")))
	first := shows(t, w, "v1.example.com", "")
	if got, want := fmt.Sprint(first.GetLabels(), first.Object["spec"]), "map[kube-aggregator.kubernetes.io/automanaged:true] map[group:example.com groupPriorityMinimum:1000 version:v1 versionPriority:100]"; got != want {
		t.Errorf("%s", got)
	}
	do(t, s, "DELETE", apiServices+"/v1.example.com", "")
	if again := shows(t, w, "v1.example.com", ""); again.GetUID() == first.GetUID() {
		t.Error("it isn't another one")
	}
	do(t, s, "PATCH", apiServices+"/v1.example.com", `{"spec":{"versionPriority":3}}`)
	shows(t, w, "v1.example.com", `"versionPriority":3`)
	shows(t, w, "v1.example.com", `"versionPriority":100`)
	do(t, s, "DELETE", definitions+"/widgets.example.com", "")
	gone(t, w, "v2.example.com")
	do(t, s, "GET", apiServices+"/v1.example.com", "")
	do(t, s, "DELETE", definitions+"/gadgets.example.com", "")
	gone(t, w, "v1.example.com")
	expect(t, s.Do("GET", apiServices+"/v3.example.com", nil), http.StatusOK, `"versionPriority":5`)
}

// TestUnreachedServers: the reason why one that another server is to answer for is not available follows what there is
// of its service (KA pkg/controllers/status/remote:sync). Nothing is forwarded to it.
func TestUnreachedServers(t *testing.T) {
	s := apiservertest.Start(t, nil)
	starts(t, s, "apiservice-controller")
	const name, service = "v1beta1.metrics.k8s.io", "/api/v1/namespaces/default/services"
	w := s.Watch(apiServices + "?watch=1")
	do(t, s, "POST", apiServices, `{"metadata":{"name":"`+name+
		`"},"spec":{"group":"metrics.k8s.io","version":"v1beta1","groupPriorityMinimum":100,"versionPriority":100,
		"insecureSkipTLSVerify":true,"service":{"namespace":"default","name":"metrics"}}}`)
	reason := func(reason, message string) {
		t.Helper()
		shows(t, w, name, fmt.Sprintf(`"message":%q,"reason":%q,"status":"False","type":"Available"`, message, reason))
	}
	reason("ServiceNotFound", `service/metrics in "default" is not present`)
	do(t, s, "POST", service, `{"metadata":{"name":"metrics"},"spec":{"ports":[{"port":80}]}}`)
	reason("ServicePortError", `service/metrics in "default" is not listening on port 443`)
	do(t, s, "PATCH", service+"/metrics", `{"spec":{"ports":[{"name":"x","port":443}]}}`)
	reason("EndpointsNotFound", `cannot find endpointslices for service/metrics in "default"`)
	const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
	do(t, s, "POST", slices, `{"metadata":{"name":"a","labels":{"kubernetes.io/service-name":"metrics"}},`+
		`"addressType":"IPv4","endpoints":[],"ports":[{"name":"x","port":1}]}`)
	reason("MissingEndpoints", `endpointslices for service/metrics in "default" have no addresses with port name "x"`)
	do(t, s, "PATCH", slices+"/a", `{"endpoints":[{"addresses":["127.0.0.1"]}]}`)
	shows(t, w, name, `"message":"failing or missing response from https://127.0.0.1:1/apis/metrics.k8s.io/v1beta1: `)
	for _, path := range []string{"/apis/metrics.k8s.io/v1beta1", "/apis/metrics.k8s.io/v1beta1/pods"} {
		expect(t, s.Do("GET", path, nil), http.StatusServiceUnavailable, "service unavailable\n")
	}
	do(t, s, "DELETE", apiServices+"/"+name, "")
	expect(t, s.Do("GET", "/apis/metrics.k8s.io/v1beta1/pods", nil), http.StatusNotFound)
}
