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

// TestMetrics: a metric is requested in the version with the highest priority, and by the resource of the object.
func TestMetrics(t *testing.T) {
	s := apiservertest.Start(t, nil)
	type kind = schema.GroupKind
	a := loopback.Autoscaler{Client: client(s)("", "m"), Others: requested{s.API.Aggregator()}}
	none, pods := kind{}, kind{Kind: "Pod"}
	is := func(of kind, name, want string) {
		t.Helper()
		fresh := a.API.Fresh(t.Context())
		_, err := a.Metrics(t.Context(), "n", of, name, "hits", url.Values{"x": {"a=b"}})
		if fresh != nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	register := func(version, group, priority string) {
		do(t, s, "POST", apiServices, `{"metadata":{"name":"`+version+`.`+group+`"},"spec":{"group":"`+group+`","version":"`+
			version+`","groupPriorityMinimum":100,"versionPriority":`+priority+`,"service":{"namespace":"n","name":"s"}}}`)
	}
	is(none, "", "the server could not find the requested resource (get hits.external.metrics.k8s.io)")
	is(pods, "*", "no custom metrics API (custom.metrics.k8s.io) registered")
	register("v1beta1", "external.metrics.k8s.io", "15")
	register("v1beta1", "custom.metrics.k8s.io", "15")
	is(none, "", "GET v1beta1/namespaces/n/hits?x=a%3Db")
	is(pods, "*", "GET v1beta1/namespaces/n/pods/%2A/hits?x=a%3Db")
	register("v1beta1", "metrics.k8s.io", "15")
	is(kind{Group: "metrics.k8s.io", Kind: "PodMetrics"}, "", "GET v1beta1/namespaces/n/hits?x=a%3Db")
	register("v1beta2", "custom.metrics.k8s.io", "15")
	is(pods, "x", "GET v1beta2/namespaces/n/pods/x/hits?x=a%3Db")
	do(t, s, "PATCH", apiServices+"/v1beta1.custom.metrics.k8s.io", `{"spec":{"versionPriority":16}}`)
	is(kind{Kind: "Namespace"}, "n", "GET v1beta1/namespaces/n/metrics/hits?x=a%3Db")
	is(kind{Group: "batch", Kind: "Job"}, "j", "GET v1beta1/namespaces/n/jobs.batch/j/hits?x=a%3Db")
	is(kind{Group: "g", Kind: "K"}, "k", `unable to map kind K.g to resource: no matches for kind "K" in group "g"`)
}
