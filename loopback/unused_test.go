package loopback_test

import (
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestUnusedWithMistypedPod (V-083): while a pod that may mount a claim can't be decoded, the condition is left as it
// is; when the pod is removed, the claim is unused.
func TestUnusedWithMistypedPod(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const other = "/api/v1/namespaces/other/persistentvolumeclaims"
	w, elsewhere := s.Watch(claims+"?watch=true"), s.Watch(other+"?watch=true")
	do(t, s, "POST", "/api/v1/namespaces", `{"metadata":{"name":"other"}}`)
	const key = "/registry/pods/default/p"
	s.Put(t, key, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default","uid":"u"},
		"spec":{"hostNetwork":"x","volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]}}`)
	for _, path := range []string{claims, other} {
		do(t, s, "POST", path, claim("c", ""))
		do(t, s, "PATCH", path+"/c/status", `{"status":{"phase":"Bound"}}`)
	}
	starts(t, s, "persistentvolumeclaim-protection-controller")
	unused := condition("Unused", "True", "NoPodsUsingPVC")
	sees(t, elsewhere, "c", unused)
	status, _ := s.Do("GET", claims+"/c", nil).Object().Object["status"].(map[string]any)
	if status["conditions"] != nil {
		t.Errorf("the claim of the pod: %v", status)
	}
	erase(t, s, key)
	sees(t, w, "c", unused)
}
