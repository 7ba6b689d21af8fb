package kubeapiserver

import (
	"io"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"
	_ "k8s.io/apiserver/pkg/features" // registers its gates
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"

	"github.com/kubecascade/kubecascade"
)

// TestGatesOfModules: the gates that linked modules declare are in the list, as they are in the version of Kubernetes.
func TestGatesOfModules(t *testing.T) {
	all, err := gates(known)
	if err != nil {
		t.Fatal(err)
	}
	declared := featuregate.NewVersionedFeatureGate(version.MustParse(kubecascade.KubernetesVersion))
	if err := logsapi.AddFeatureGates(declared); err != nil {
		t.Fatal(err)
	}
	specs := declared.GetAll()
	maps.Copy(specs, utilfeature.DefaultMutableFeatureGate.GetAll())
	stages := map[string]stage{"ALPHA": alpha, "BETA": beta, "": ga, "DEPRECATED": deprecated}
	for name, spec := range specs {
		want := gate{stages[string(spec.PreRelease)], spec.Default, spec.LockToDefault}
		if got := all[string(name)]; got != want {
			t.Errorf("%s: %+v, the modules have %+v", name, got, want)
		}
	}
	if len(specs) < 40 {
		t.Errorf("the modules have %d gates", len(specs))
	}
}

// TestGates: what is accepted, with which effect, and the messages (component-base featuregate/feature_gate_test.go).
func TestGates(t *testing.T) {
	const effects = "AllowUnsafeMalformedObjectDeletion"
	for value, want := range map[string]map[string]bool{
		"WatchList=false": {}, effects + "=true": {effects: true}, "AllAlpha=true": {effects: true},
		"AllAlpha=true," + effects + "=false": {effects: false}, "AllBeta=true": {},
		"kube:" + effects + "=1,kube:WatchList=f": {effects: true},
		effects + "=true, " + effects + "=false":  {effects: false},
		"JobManagedBy=true":                       {}, "AllowDNSOnlyNodeCSR=true": {}, "CustomCPUCFSQuotaPeriod=true": {},
	} {
		if got := parse(t, "--feature-gates="+value).Options.API.FeatureGates; !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", value, got, want)
		}
	}
	s := parse(t, "--feature-gates=WatchList=true,JobManagedBy=true", "--feature-gates=KMSv1=true")
	if want := []string{"JobManagedBy", "KMSv1"}; !slices.Equal(s.Fading, want) {
		t.Errorf("%q, want %q", s.Fading, want)
	}
	for value, want := range map[string]string{
		"Nonsense=true": "unrecognized feature gate: Nonsense", "MyFeature=true": "unrecognized feature gate: MyFeature",
		"HonorPVReclaimPolicy=true": "unrecognized feature gate: HonorPVReclaimPolicy", // removed in v1.36
		"JobManagedBy=false":        "cannot set feature gate JobManagedBy to false, feature is locked to true",
		"JobManagedBy=false,SidecarContainers=false": "[cannot set feature gate JobManagedBy to false, feature is locked " +
			"to true, cannot set feature gate SidecarContainers to false, feature is locked to true]",
		"WatchList=maybe":      `invalid value of WatchList=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax`,
		"wardle:WatchList=off": "component not registered: wardle",
		"kube:WatchList=true,JobManagedBy=true": "set kube feature gates with default empty prefix or kube: prefix " +
			"consistently, do not mix use",
	} {
		args := append(slices.Clone(envtest), "--feature-gates="+value)
		if _, err := Parse(args, io.Discard, io.Discard); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", value, err, want)
		}
	}
}
