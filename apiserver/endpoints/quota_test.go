package endpoints_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

const inDefault = "/api/v1/namespaces/default/"

// made sends a create and fails the test if it is rejected.
func made(t *testing.T, s *apiservertest.Server, resource, body string) apiservertest.Answer {
	t.Helper()
	a := s.Do("POST", inDefault+resource, body)
	if a.Code != 201 {
		t.Fatalf("creating %s: %d %s", resource, a.Code, a.Body)
	}
	return a
}

// quota creates a quota and sets its status.used to zeros, or to used.
func quota(t *testing.T, s *apiservertest.Server, name, hard, used string) {
	t.Helper()
	made(t, s, "resourcequotas", fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"hard":%s}}`, name, hard))
	a := s.Do("PUT", inDefault+"resourcequotas/"+name+"/status",
		fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"hard":%s},"status":{"hard":%s,"used":%s}}`, name, hard, hard, used))
	if a.Code != 200 {
		t.Fatalf("setting the status: %s", a.Body)
	}
}

// used reads the status.used of a quota.
func used(s *apiservertest.Server, name string) map[string]string {
	out, _, _ := unstructured.NestedStringMap(
		s.Do("GET", inDefault+"resourcequotas/"+name, nil).Object().Object, "status", "used",
	)
	return out
}

func named(name string) string { return fmt.Sprintf(`{"metadata":{"name":%q}}`, name) }

// TestQuotaHoldsForConcurrentCreates: of many concurrent creates, as many succeed as the quota allows.
func TestQuotaHoldsForConcurrentCreates(t *testing.T) {
	s := apiservertest.Start(t, nil)
	quota(t, s, "q", `{"configmaps":"10"}`, `{"configmaps":"0"}`)
	var wg sync.WaitGroup
	var let, kept atomic.Int32
	for i := range 25 {
		wg.Go(func() {
			a, err := s.Try("POST", inDefault+"configmaps", named(fmt.Sprint("c", i)))
			switch {
			case err != nil:
				t.Error(err)
			case a.Code == 201:
				let.Add(1)
			case a.Code == 403:
				kept.Add(1)
			default:
				t.Errorf("%d %s", a.Code, a.Body)
			}
		})
	}
	wg.Wait()
	if let.Load() != 10 || kept.Load() != 15 || used(s, "q")["configmaps"] != "10" {
		t.Errorf("%d succeeded, %d were denied, used are %v", let.Load(), kept.Load(), used(s, "q"))
	}
}
