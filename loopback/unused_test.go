package loopback_test

import (
	"fmt"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// becomes waits until a claim has the condition Unused with the status.
func becomes(t *testing.T, w *apiservertest.Watch, name, status string) {
	t.Helper()
	for {
		e, err := w.Next()
		if err != nil {
			t.Fatalf("waiting for Unused=%s of %s: %v", status, name, err)
		}
		if e.Object.GetName() != name {
			continue
		}
		st, _ := e.Object.Object["status"].(map[string]any)
		all, _ := st["conditions"].([]any)
		for _, c := range all {
			if c := c.(map[string]any); c["type"] == "Unused" && c["status"] == status {
				return
			}
		}
	}
}

// TestUnused (V-083), over HTTP: the condition follows the pods, those included that were there before the controller.
func TestUnused(t *testing.T) {
	s := apiservertest.Start(t, nil)
	w := s.Watch(claims + "?watch=true")
	bind := func(name string) {
		do(t, s, "POST", claims, claim(name, ""))
		do(t, s, "PATCH", claims+"/"+name+"/status", `{"status":{"phase":"Bound"}}`,
			"Content-Type", "application/merge-patch+json")
	}
	use := func(pod, claim string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"containers":[{"name":"c","image":"i"}],
			"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":%q}}]}}`, pod, claim)
	}
	bind("before")
	do(t, s, "POST", pods, use("early", "before"))
	do(t, s, "POST", pods, `{"metadata":{"name":"plain"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	stop := starts(t, s, "persistentvolumeclaim-protection-controller")
	becomes(t, w, "before", "False")
	bind("c")
	becomes(t, w, "c", "True")
	do(t, s, "POST", pods, use("p", "c"))
	becomes(t, w, "c", "False")
	do(t, s, "PATCH", pods+"/p/status", `{"status":{"phase":"Failed"}}`, "Content-Type", "application/merge-patch+json")
	becomes(t, w, "c", "True")
	do(t, s, "DELETE", pods+"/early?gracePeriodSeconds=0", "")
	becomes(t, w, "before", "True")
	stop()
	do(t, s, "POST", pods, use("late", "before"))
	starts(t, s, "persistentvolumeclaim-protection-controller")
	becomes(t, w, "before", "False")
}
