package endpoints_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestWithoutManagedFields: an object that is too large with its managedFields is stored without them, unless the
// request itself sets them (0-15).
func TestWithoutManagedFields(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, nil)
	data := map[string]any{}
	for i := range 4000 { // managedFields contain the names of keys, too
		data[fmt.Sprintf("%0240d", i)] = ""
	}
	body := func(name string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": data}
	}
	a := must(t, s.Do("POST", configmaps, body("a")), http.StatusCreated).Object()
	if len(a.GetManagedFields()) != 0 {
		t.Error("created with managedFields")
	}
	a = must(t, s.Do("PUT", configmaps+"/a", body("a")), http.StatusOK).Object()
	if len(a.GetManagedFields()) != 0 {
		t.Error("replaced with managedFields")
	}
	data["more"] = ""
	a = must(t, s.Do("PATCH", configmaps+"/a", `{"data":{"more":"1"}}`), http.StatusOK).
		Object()
	if n := len(a.GetManagedFields()); n > 1 {
		t.Errorf("patched with %d managedFields", n)
	}
	st := s.Do("PATCH", configmaps+"/b?fieldManager=m", body("b"), "Content-Type", "application/apply-patch+yaml").Status()
	if st.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("applied: %+v", st)
	}
}
