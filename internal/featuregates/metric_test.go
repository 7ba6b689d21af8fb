package featuregates_test

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubecascade/kubecascade/internal/featuregates"
)

// TestMetricHasActingGates: kubernetes_feature_enabled has the gates that act, with the stages and values of
// kube-apiserver's metric.
func TestMetricHasActingGates(t *testing.T) {
	gates, err := featuregates.Resolve(map[string]bool{"ComponentStatusz": false, "WatchList": false})
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(featuregates.Metric(gates))
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "kubernetes_feature_enabled" {
		t.Fatalf("%v, %v", families, err)
	}
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()+" "+m.GetLabel()[1].GetValue()] = m.GetGauge().GetValue()
	}
	if len(got) != len(featuregates.Effective()) {
		t.Errorf("%v, but the gates with an effect are %v", got, featuregates.Effective())
	}
	for name, want := range map[string]float64{
		"AllowUnsafeMalformedObjectDeletion BETA": 1, "ComponentStatusz BETA": 0, "HPAScaleToZero BETA": 1,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%q: %v, %t; want %v", name, value, ok, want)
		}
	}
}

// TestIneffective: only gates that have no effect, and are not set to their default.
func TestIneffective(t *testing.T) {
	for want, gates := range map[string]map[string]bool{
		"[]":                                {"WatchList": true, "AllAlpha": true, "AllowUnsafeMalformedObjectDeletion": true},
		"[CBORServingAndStorage WatchList]": {"WatchList": false, "CBORServingAndStorage": true, "JobManagedBy": true},
	} {
		if got := fmt.Sprint(featuregates.Ineffective(gates)); got != want {
			t.Errorf("%v: %s, want %s", gates, got, want)
		}
	}
}
