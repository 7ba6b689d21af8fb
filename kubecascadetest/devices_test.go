package kubecascadetest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/kubecascadetest"
)

// TestDeviceTaints: a DeviceTaintRule evicts the pod that uses the device, and its status says so (V-087).
func TestDeviceTaints(t *testing.T) {
	s := kubecascadetest.New(t)
	c := newClient(t, s)
	const dra, pods = "/apis/resource.k8s.io/v1", "/api/v1/namespaces/default/pods"
	const claims, rules = dra + "/namespaces/default/resourceclaims", dra + "/devicetaintrules"
	c.do("POST", claims, `{"metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r",
		"exactly":{"deviceClassName":"d"}}]}}}`, http.StatusCreated)
	pod := c.do("POST", pods, `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}],
		"resourceClaims":[{"name":"r","resourceClaimName":"c"}]}}`, http.StatusCreated)
	c.do("PUT", claims+"/c/status", `{"metadata":{"name":"c"},"status":{"allocation":{"devices":{"results":[{
		"request":"r","driver":"example.com","pool":"p","device":"one"}]}},
		"reservedFor":[{"resource":"pods","name":"p","uid":"`+uid(pod)+`"}]}}`, http.StatusOK)
	settle(t, s)
	c.do("POST", rules, `{"metadata":{"name":"other"},"spec":{"deviceSelector":{"device":"two"},
		"taint":{"key":"k","effect":"NoExecute"}}}`, http.StatusCreated)
	settle(t, s)
	if got := c.do("GET", pods+"/p", "", http.StatusOK); strings.Contains(got, "deletionTimestamp") {
		t.Errorf("a rule for another device evicts %s", got)
	}
	c.do("POST", rules, `{"metadata":{"name":"rule"},"spec":{"deviceSelector":{"driver":"example.com"},
		"taint":{"key":"k","effect":"NoExecute"}}}`, http.StatusCreated)
	settle(t, s)
	got := c.do("GET", pods+"/p", "", http.StatusOK)
	if !strings.Contains(got, "deletionTimestamp") || !strings.Contains(got, `"reason":"DeletionByDeviceTaintManager"`) {
		t.Errorf("it is not evicted: %s", got)
	}
	if err := s.Advance(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	settle(t, s)
	for name, want := range map[string]string{
		"rule": "False Completed 1 pod evicted since starting the controller.", "other": "False NotStarted ",
	} {
		var rule struct {
			Status struct {
				Conditions []struct{ Type, Status, Reason, Message string }
			}
		}
		if err := json.Unmarshal([]byte(c.do("GET", rules+"/"+name, "", http.StatusOK)), &rule); err != nil {
			t.Fatal(err)
		}
		all := rule.Status.Conditions
		if len(all) != 1 || all[0].Type != "EvictionInProgress" ||
			all[0].Status+" "+all[0].Reason+" "+all[0].Message != want {
			t.Errorf("%s: %+v, want %s", name, all, want)
		}
	}
}
