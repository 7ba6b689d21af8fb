package endpoints_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestAppliedBounds: lists that an apply merges item by item are bounded; a list of strings, such as addresses, is not.
func TestAppliedBounds(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, nil)
	many := func(n int, format string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(format, i))
		}
		return strings.Join(all, ",")
	}
	deployment := func(env int) string {
		return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"selector":{"matchLabels":{"a":"b"}},
			"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","env":[` + many(
			env, `{"name":"e%05d"}`,
		) + `]}]}}}}`
	}
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	for _, c := range []struct {
		path, body string
		code       int
	}{
		{deployments, deployment(10_001), http.StatusRequestEntityTooLarge},
		{deployments, deployment(10_000), http.StatusCreated},
		{
			configmaps,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","finalizers":[` + many(20_001, `"a/%d"`) + `]}}`,
			http.StatusRequestEntityTooLarge,
		},
		{
			configmaps,
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{` + many(65_537, `"%d":""`) + `}}`,
			http.StatusRequestEntityTooLarge,
		},
		{
			configmaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{` + many(5000, `"%d":""`) + `}}`,
			http.StatusCreated,
		},
		{"/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
			`{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"a"},
			"addressType":"IPv4","endpoints":[{"addresses":[` + many(20_000, `"10.0.0.%d"`) + `]}]}`,
			http.StatusUnprocessableEntity},
	} {
		a := s.Do("PATCH", c.path+"/a?fieldManager=m&dryRun=All", c.body, "Content-Type", "application/apply-patch+yaml")
		if a.Code != c.code {
			t.Errorf("%.40s: %d %.300s", c.body, a.Code, a.Body)
		}
	}
}
