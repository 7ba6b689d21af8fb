package endpoints_test

import (
	"context"
	"testing"
	"time"

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
	if a := s.Do("DELETE", service, nil); a.Code != 200 {
		t.Fatalf("deleting: %d %s", a.Code, a.Body)
	}
	w := s.Watch("/api/v1/namespaces/default/services?watch=1&fieldSelector=metadata.name%3Dkubernetes")
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.API.KeepFirst(ctx, bootstrap.Options{SecurePort: 6443}, time.Millisecond)
	}()
	e, err := w.Next()
	cancel()
	<-done
	if err != nil {
		t.Fatal(err)
	}
	after := e.Object
	if after.GetUID() == before.GetUID() || after.GetName() != "kubernetes" {
		t.Errorf("%s with uid %s was %s", after.GetName(), after.GetUID(), before.GetUID())
	}
}
