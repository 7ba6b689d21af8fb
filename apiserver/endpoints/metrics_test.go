package endpoints_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// half measures that a pod on a node uses 500m, over seven seconds.
func half(p *corev1.Pod, now time.Time) *metricsv1beta1.PodMetrics {
	if p.Spec.NodeName == "" {
		return nil
	}
	return &metricsv1beta1.PodMetrics{Timestamp: metav1.NewTime(now), Window: metav1.Duration{Duration: 7 * time.Second},
		Containers: []metricsv1beta1.ContainerMetrics{{Name: p.Spec.Containers[0].Name, Usage: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Mi")}}}}
}

// TestMetricsGroup: metrics.k8s.io is read like any other group, with metrics-server's answers.
func TestMetricsGroup(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Kinds: resources.Metrics(half)})
	for _, o := range []string{
		"nodes {'metadata':{'name':'n','labels':{'zone':'a'}}}", "nodes {'metadata':{'name':'m'}}",
		"namespaces {'metadata':{'name':'other'}}",
		"namespaces/default/pods {'metadata':{'name':'web','labels':{'app':'web'}},'spec':{'nodeName':'n'}}",
		"namespaces/default/pods {'metadata':{'name':'db','labels':{'app':'db'}},'spec':{'nodeName':'n'}}",
		"namespaces/default/pods {'metadata':{'name':'waits'},'spec':{}}",
		"namespaces/other/pods {'metadata':{'name':'web','labels':{'app':'web'}},'spec':{'nodeName':'m'}}",
	} {
		path, body, _ := strings.Cut(o, " ")
		body = strings.ReplaceAll(body, "'spec':{", "'spec':{'containers':[{'name':'c','image':'i'}],")
		body = strings.ReplaceAll(strings.ReplaceAll(body, "],}", "]}"), "'", `"`)
		if a := s.Do("POST", "/api/v1/"+path, body); a.Code != 201 {
			t.Fatalf("%s: %d %s", o, a.Code, a.Body)
		}
	}
	for query, want := range map[string]string{
		"pods":                         "default/db default/web other/web",
		"namespaces/other/pods":        "other/web",
		"pods?labelSelector=app%3Dweb": "default/web other/web",
		"namespaces/default/pods?fieldSelector=metadata.name%3Ddb": "default/db",
		"pods?fieldSelector=metadata.namespace%3Dother":            "other/web",
		"namespaces/none/pods":                                     "",
		"nodes":                                                    "/m /n",
		"nodes?labelSelector=zone":                                 "/n",
		"nodes?fieldSelector=metadata.name%21%3Dn":                 "/m",
	} {
		a := s.Do("GET", "/apis/metrics.k8s.io/v1beta1/"+query, nil)
		var got []string
		for _, m := range a.List().Items {
			got = append(got, m.GetNamespace()+"/"+m.GetName())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	for path, want := range map[string]string{
		"nodes/n": `map[cpu:1 memory:2Mi]`, "nodes/m": `map[cpu:500m memory:1Mi]`,
		"namespaces/default/pods/web":   `map[cpu:500m memory:1Mi]`,
		"nodes/x":                       `404 nodes "x" not found`,
		"namespaces/default/pods/x":     `404 pods "x" not found`,
		"namespaces/default/pods/waits": `404 podmetrics.metrics.k8s.io "default/waits" not found`,
	} {
		if got := usageIn(s.Do("GET", "/apis/metrics.k8s.io/v1beta1/"+path, nil)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if a := s.Do("POST", "/apis/metrics.k8s.io/v1beta1/namespaces/default/pods", "{}"); a.Code != 405 {
		t.Errorf("POST: %d %s", a.Code, a.Body)
	}
	for path, want := range map[string]string{
		"nodes/n": `"cells":["n","1","2Mi","15s"]`, "namespaces/other/pods/web": `"cells":["web","500m","1Mi","7s"]`,
	} {
		a := s.Do("GET", "/apis/metrics.k8s.io/v1beta1/"+path, nil, "Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
		if !strings.Contains(string(a.Body), want) {
			t.Errorf("table of %s: %s", path, a.Body)
		}
	}
	a := s.Do("GET", "/openapi/v3/apis/metrics.k8s.io/v1beta1", nil)
	if !strings.Contains(string(a.Body), `"/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods/{name}"`) {
		t.Errorf("OpenAPI: %d, %d bytes", a.Code, len(a.Body))
	}
}

// usageIn is the usage in an answer.
func usageIn(a apiservertest.Answer) string {
	o := a.Object().Object
	if a.Code != 200 {
		return fmt.Sprint(a.Code, " ", o["message"])
	}
	if list, ok := o["containers"].([]any); ok {
		o = list[0].(map[string]any)
	}
	return fmt.Sprint(o["usage"])
}
