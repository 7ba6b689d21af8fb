package server

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestEnabledGates: kubernetes_feature_enabled has the names, stages and values of kube-apiserver's metric.
func TestEnabledGates(t *testing.T) {
	c := &Config{Gates: map[string]bool{"AllAlpha": true, "WatchList": false}}
	gates, err := c.featureGates()
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(enabled(gates))
	families, err := registry.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "kubernetes_feature_enabled" {
		t.Fatalf("%v, %v", families, err)
	}
	got := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		got[m.GetLabel()[0].GetValue()+" "+m.GetLabel()[1].GetValue()] = m.GetGauge().GetValue()
	}
	for name, want := range map[string]float64{
		"AllowUnsafeMalformedObjectDeletion BETA": 1, "AllAlpha ALPHA": 1, "AllBeta BETA": 0, "WatchList BETA": 0,
		"APIResponseCompression BETA": 1, "JobManagedBy ": 1, "AllowDNSOnlyNodeCSR DEPRECATED": 0,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%q: %v, %t; want %v", name, value, ok, want)
		}
	}
}

// TestWarnOfGates: only gates that have no effect, and are not set to their default.
func TestWarnOfGates(t *testing.T) {
	for want, gates := range map[string]map[string]bool{
		"": {"WatchList": true, "AllAlpha": true, "AllowUnsafeMalformedObjectDeletion": true},
		"gates=CBORServingAndStorage,WatchList\n": {"WatchList": false, "CBORServingAndStorage": true, "JobManagedBy": true},
	} {
		var out bytes.Buffer
		(&Config{Gates: gates}).warnOfGates(slog.New(slog.NewTextHandler(&out, nil)))
		if got := out.String(); !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%v: %q, want %q", gates, got, want)
		}
	}
}
