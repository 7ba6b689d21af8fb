package endpoints_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestQuotaHoldsForConcurrentCreates: exactly as many concurrent creates succeed as the quota allows.
func TestQuotaHoldsForConcurrentCreates(t *testing.T) {
	s := apiservertest.Start(t, nil)
	const quotas = "/api/v1/namespaces/default/resourcequotas"
	const quota = `{"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"10"}},
		"status":{"hard":{"configmaps":"10"},"used":{"configmaps":"0"}}}`
	must(t, s.Do("POST", quotas, quota), http.StatusCreated)
	must(t, s.Do("PUT", quotas+"/q/status", quota), http.StatusOK)
	var wg sync.WaitGroup
	var let, kept atomic.Int32
	for i := range 25 {
		wg.Go(func() {
			a, err := s.Try("POST", configmaps, configmap(fmt.Sprint("c", i), nil, nil))
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
	used, _, _ := unstructured.NestedString(s.Do("GET", quotas+"/q", nil).Object().Object, "status", "used", "configmaps")
	if let.Load() != 10 || kept.Load() != 15 || used != "10" {
		t.Errorf("%d succeeded, %d were denied, used are %s", let.Load(), kept.Load(), used)
	}
}
