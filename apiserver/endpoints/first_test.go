package endpoints_test

import (
	"net/http"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/bootstrap"
)

// If the service "kubernetes" is deleted, it is created again, as another object with the same address.
func TestKeepService(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const service = "/api/v1/namespaces/default/services/kubernetes"
	if err := s.API.EnsureFirst(t.Context(), bootstrap.Options{SecurePort: 6443}); err != nil {
		t.Fatal(err)
	}
	before := s.Do("GET", service, nil).Object()
	must(t, s.Do("DELETE", service, nil), http.StatusOK)
	w := s.Watch("/api/v1/namespaces/default/services?watch=1&fieldSelector=metadata.name%3Dkubernetes")
	defer w.Close()
	if err := s.API.CheckFirst(t.Context(), bootstrap.Options{SecurePort: 6443}); err != nil {
		t.Fatal(err)
	}
	after := next(t, w).Object
	if after.GetUID() == before.GetUID() || after.GetName() != "kubernetes" {
		t.Errorf("%s with uid %s was %s", after.GetName(), after.GetUID(), before.GetUID())
	}
}
