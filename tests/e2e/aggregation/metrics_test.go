package aggregation

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/emicklei/go-restful/v3"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	metrics "sigs.k8s.io/custom-metrics-apiserver/pkg/cmd"
	"sigs.k8s.io/custom-metrics-apiserver/test-adapter/provider"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/tests/process"
)

// adapter runs the test adapter of sigs.k8s.io/custom-metrics-apiserver until the test ends. It returns its port, and
// the URL by which metrics are set.
func adapter(t *testing.T, kubeconfig string) (port int32, url string) {
	t.Helper()
	a := metrics.AdapterBase{Name: "adapter", DiscoveryInterval: time.Minute, FlagSet: &pflag.FlagSet{}}
	port = int32(free(t).Port)
	err := a.Flags().Parse([]string{
		"--secure-port=" + strconv.Itoa(int(port)), "--bind-address=127.0.0.1",
		"--cert-dir=" + filepath.Join(t.TempDir(), "pki"), "--lister-kubeconfig=" + kubeconfig,
		"--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
	})
	client, err2 := a.DynamicClient()
	mapper, err3 := a.RESTMapper()
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	values, service := provider.NewFakeProvider(client, mapper)
	a.WithCustomMetrics(values)
	a.WithExternalMetrics(values)
	s := httptest.NewServer(restful.NewContainer().Add(service))
	t.Cleanup(s.Close)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return port, s.URL + "/write-metrics"
}

// autoscaler wants 2 replicas for the first metric, 3 for the second one and 1 for the third one.
const autoscaler = `
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: web}
  maxReplicas: 3
  metrics:
  - {type: Pods, pods: {metric: {name: hits}, target: {type: AverageValue, averageValue: 10}}}
  - type: Object
    object: {metric: {name: hits}, describedObject: {apiVersion: v1, kind: Service, name: adapter}, target: {
      type: Value, value: 10}}
  - {type: External, external: {metric: {name: other-external-metric}, target: {type: AverageValue, averageValue: 44}}}
`

// TestMetricsAdapter: a HorizontalPodAutoscaler scales by metrics of the adapter.
func TestMetricsAdapter(t *testing.T) {
	s := process.Start(t, "--authorization-mode=RBAC", "--simulate-pods", "--horizontal-pod-autoscaler-sync-period=200ms")
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	core := kubernetes.NewForConfigOrDie(config)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	port, url := adapter(t, s.Kubeconfig)
	register(ctx, t, config, "adapter", port, "v1beta2.custom.metrics.k8s.io", "v1beta1.external.metrics.k8s.io")
	for object, value := range map[string]string{"pods/web-0": `"20"`, "services/adapter": `"30"`} {
		answer, err := http.Post(url+"/namespaces/default/"+object+"/hits", "application/json", strings.NewReader(value))
		ok(err)
		answer.Body.Close()
	}
	var set appsv1.StatefulSet
	ok(yaml.Unmarshal([]byte(`{metadata: {name: web}, spec: {selector: {matchLabels: {app: web}},
		template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, image: i}]}}}}`), &set))
	_, err = core.AppsV1().StatefulSets("default").Create(ctx, &set, metav1.CreateOptions{})
	ok(err)
	var a autoscalingv2.HorizontalPodAutoscaler
	ok(yaml.Unmarshal([]byte(autoscaler), &a))
	all := core.AutoscalingV2().HorizontalPodAutoscalers("default")
	_, err = all.Create(ctx, &a, metav1.CreateOptions{})
	ok(err)
	until(ctx, t, func() bool {
		a, err := all.Get(ctx, "web", metav1.GetOptions{})
		ok(err)
		m := a.Status.CurrentMetrics
		if a.Status.CurrentReplicas != 3 || len(m) != 3 || m[0].Pods == nil || m[1].Object == nil || m[2].External == nil {
			return false
		}
		return m[0].Pods.Current.AverageValue.Value() == 20 && m[1].Object.Current.Value.Value() == 30 &&
			m[2].External.Current.AverageValue.MilliValue() == 14667
	})
}
