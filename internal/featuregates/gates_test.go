package featuregates_test

import (
	"errors"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	_ "k8s.io/apiserver/pkg/features" // registers its gates
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"
	metricsfeatures "k8s.io/component-base/metrics/features"
	zpagesfeatures "k8s.io/component-base/zpages/features"

	"github.com/kubecascade/kubecascade/internal/featuregates"
	"github.com/kubecascade/kubecascade/internal/server"
)

// TestGatesOfModules: the gates that linked modules declare are in the list, as they are in the version of Kubernetes
// (V-026, V-027, V-028, V-033).
func TestGatesOfModules(t *testing.T) {
	declared := featuregate.NewVersionedFeatureGate(version.MustParse(server.KubernetesVersion))
	for _, add := range []func(featuregate.MutableVersionedFeatureGate) error{
		logsapi.AddFeatureGates, metricsfeatures.AddFeatureGates, zpagesfeatures.AddFeatureGates,
	} {
		if err := add(declared); err != nil {
			t.Fatal(err)
		}
	}
	specs := declared.GetAll()
	maps.Copy(specs, utilfeature.DefaultMutableFeatureGate.GetAll())
	stages := map[string]featuregates.Stage{
		"ALPHA": featuregates.Alpha, "BETA": featuregates.Beta, "": featuregates.GA, "DEPRECATED": featuregates.Deprecated,
	}
	for name, spec := range specs {
		want := featuregates.Gate{Stage: stages[string(spec.PreRelease)], On: spec.Default, Locked: spec.LockToDefault}
		if got := featuregates.Known()[string(name)]; got != want {
			t.Errorf("%s: %+v, the modules have %+v", name, got, want)
		}
	}
	if len(specs) < 40 {
		t.Errorf("the modules have %d gates", len(specs))
	}
}

// TestGatesAreSetDirectlyOrByStage: what is set directly, by stage, and not at all.
func TestGatesAreSetDirectlyOrByStage(t *testing.T) {
	const alpha, beta = "CBORServingAndStorage", featuregates.AllowUnsafeMalformedObjectDeletion
	for _, c := range []struct {
		set         map[string]bool
		alpha, beta bool
	}{
		{nil, false, true},
		{map[string]bool{alpha: true}, true, true},
		{map[string]bool{"AllAlpha": true, "AllBeta": false}, true, false},
		{map[string]bool{"AllAlpha": true, alpha: false, "AllBeta": false, beta: true}, false, true},
	} {
		got, err := featuregates.Resolve(c.set)
		if err != nil || got[alpha] != c.alpha || got[beta] != c.beta || len(got) != len(featuregates.Known()) {
			t.Errorf("%v: %t, %t of %d gates, %v", c.set, got[alpha], got[beta], len(got), err)
		}
		if got["AllAlpha"] != c.set["AllAlpha"] || !got["JobManagedBy"] {
			t.Errorf("%v: AllAlpha is %t, JobManagedBy %t", c.set, got["AllAlpha"], got["JobManagedBy"])
		}
	}
}

// TestErrorsAreUpstreams: the errors are those of kube-apiserver (component-base featuregate/feature_gate_test.go).
func TestErrorsAreUpstreams(t *testing.T) {
	_, err := featuregates.Resolve(map[string]bool{"Nonsense": true})
	if !errors.Is(err, featuregates.ErrUnrecognized) || err.Error() != "unrecognized feature gate: Nonsense" {
		t.Error(err)
	}
	const locked = "cannot set feature gate JobManagedBy to false, feature is locked to true"
	if _, err = featuregates.Resolve(map[string]bool{"JobManagedBy": false}); err == nil || err.Error() != locked {
		t.Error(err)
	}
	for _, name := range featuregates.Effective() {
		if _, ok := featuregates.Known()[name]; !ok {
			t.Errorf("%s has an effect and is no gate", name)
		}
	}
}
