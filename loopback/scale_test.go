package loopback_test

import (
	"context"
	"errors"
	"net/url"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/loopback"
)

// requested returns each request as an error.
type requested struct{ loopback.Aggregator }

func (requested) Do(_ context.Context, _ user.DefaultInfo, method string, gv schema.GroupVersion, at url.URL, _ string,
	_ []byte) ([]byte, error) {
	return nil, errors.New(method + " " + gv.Version + at.String())
}

// TestMetricIsRequestedInPreferredVersion: the path has the resource of the object.
func TestMetricIsRequestedInPreferredVersion(t *testing.T) {
	s := apiservertest.Start(t, nil)
	type kind = schema.GroupKind
	a := loopback.Autoscaler{Client: client(s)("", "m"), Others: requested{s.API.Aggregator()}}
	query, pods := url.Values{"x": {"a=b"}}, kind{Kind: "Pod"}
	is := func(want string, metrics func() ([]byte, error)) {
		t.Helper()
		fresh := a.API.Fresh(t.Context())
		if _, err := metrics(); fresh != nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	external := func() ([]byte, error) {
		gv := schema.GroupVersion{Group: "external.metrics.k8s.io", Version: "v1beta1"}
		return a.Metric(t.Context(), gv, "n", query, "hits")
	}
	custom := func(of kind, name string) func() ([]byte, error) {
		return func() ([]byte, error) { return a.CustomMetric(t.Context(), "n", of, name, "hits", query) }
	}
	register := func(version string) {
		const group = "custom.metrics.k8s.io"
		do(t, s, "POST", apiServices, `{"metadata":{"name":"`+version+`.`+group+`"},"spec":{"group":"`+group+`","version":"`+
			version+`","groupPriorityMinimum":100,"versionPriority":15,"service":{"namespace":"n","name":"s"}}}`)
	}
	is("GET v1beta1/namespaces/n/hits?x=a%3Db", external)
	is("no custom metrics API (custom.metrics.k8s.io) registered", custom(pods, "*"))
	register("v1beta1")
	is("GET v1beta1/namespaces/n/pods/%2A/hits?x=a%3Db", custom(pods, "*"))
	register("v1beta2")
	is("GET v1beta2/namespaces/n/pods/x/hits?x=a%3Db", custom(pods, "x"))
	do(t, s, "PATCH", apiServices+"/v1beta1.custom.metrics.k8s.io", `{"spec":{"versionPriority":16}}`)
	is("GET v1beta1/namespaces/n/metrics/hits?x=a%3Db", custom(kind{Kind: "Namespace"}, "n"))
	is("GET v1beta1/namespaces/n/jobs.batch/j/hits?x=a%3Db", custom(kind{Group: "batch", Kind: "Job"}, "j"))
	is(`unable to map kind K.g to resource: no matches for kind "K" in group "g"`,
		custom(kind{Group: "g", Kind: "K"}, "k"))
	a.Others = s.API.Aggregator()
	is("the server could not find the requested resource (get hits.external.metrics.k8s.io)", external)
}
