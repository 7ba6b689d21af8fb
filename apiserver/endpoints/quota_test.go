package endpoints_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

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

func TestQuota(t *testing.T) {
	s := apiservertest.Start(t, nil)
	quota(t, s, "q", `{"configmaps":"2","secrets":"1"}`, `{"configmaps":"0","secrets":"0"}`)
	made(t, s, "configmaps", named("a"))
	expect := func(what, configmaps, secrets string) {
		t.Helper()
		if got := used(s, "q"); got["configmaps"] != configmaps || got["secrets"] != secrets {
			t.Errorf("%s: used are %v, not configmaps %s and secrets %s", what, got, configmaps, secrets)
		}
	}
	expect("after a create", "1", "0")

	if a := s.Do("POST", inDefault+"configmaps?dryRun=All", named("b")); a.Code != 201 {
		t.Errorf("dry run: %d %s", a.Code, a.Body)
	}
	expect("after a dry run", "1", "0")

	if a := s.Do("POST", inDefault+"configmaps", named("a")); a.Code != 409 {
		t.Errorf("creating what is there: %d %s", a.Code, a.Body)
	}
	expect("after a create that failed once it was charged", "1", "0")

	// Two quotas: the second one denies a write for which the first one was already changed.
	quota(t, s, "r", `{"count/secrets":"0"}`, `{"count/secrets":"0"}`)
	forbidden(
		t, s, "POST", "secrets", named("s"),
		`secrets "s" is forbidden: exceeded quota: r, requested: count/secrets=1, used: count/secrets=0, limited: count/secrets=0`,
	)
	expect("after another quota denied", "1", "0")

	made(t, s, "configmaps", `{"metadata":{"generateName":"b-"}}`)
	forbidden(
		t, s, "POST", "configmaps", named("c"),
		`configmaps "c" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2`,
	)
	forbidden(
		t, s, "POST", "configmaps?dryRun=All", named("c"),
		`configmaps "c" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2`,
	)
	expect("at the end", "2", "0")

	made(t, s, "resourcequotas", `{"metadata":{"name":"silent"},"spec":{"hard":{"count/serviceaccounts":"0"}}}`)
	made(t, s, "serviceaccounts", named("a")) // its status is empty yet
}

// TestQuotaAtOnce: of many concurrent creates, as many succeed as the quota allows.
func TestQuotaAtOnce(t *testing.T) {
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

// TestQuotaOfServices: a service is counted once, however many attempts its cluster IP needs.
func TestQuotaOfServices(t *testing.T) {
	s := apiservertest.Start(t, nil)
	quota(t, s, "q", `{"services":"9","services.nodeports":"3"}`, `{"services":"0","services.nodeports":"0"}`)
	made(t, s, "services", `{"metadata":{"name":"a"},"spec":{"type":"NodePort","ports":[{"port":1}]}}`)
	forbidden(t, s, "POST", "services",
		`{"metadata":{"name":"b"},"spec":{"type":"LoadBalancer","ports":[{"name":"a","port":1},{"name":"b","port":2},{"name":"c","port":3}]}}`,
		`services "b" is forbidden: exceeded quota: q, requested: services.nodeports=3, used: services.nodeports=1, limited: services.nodeports=3`)
	if got := used(s, "q"); got["services"] != "1" || got["services.nodeports"] != "1" {
		t.Errorf("used: %v", got)
	}
}
