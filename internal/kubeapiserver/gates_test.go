package kubeapiserver

import (
	"io"
	"maps"
	"slices"
	"testing"
)

// TestGates: what is accepted, with which effect, and the messages (component-base featuregate/feature_gate_test.go).
func TestGates(t *testing.T) {
	const malformed = "AllowUnsafeMalformedObjectDeletion"
	for value, want := range map[string]map[string]bool{
		"WatchList=false": {"WatchList": false}, malformed + "=true": {malformed: true},
		"AllAlpha=true," + malformed + "=false":       {"AllAlpha": true, malformed: false},
		"kube:" + malformed + "=1,kube:WatchList=f":   {malformed: true, "WatchList": false},
		malformed + "=true, " + malformed + "=false":  {malformed: false},
		"JobManagedBy=true,AllowDNSOnlyNodeCSR=false": {"JobManagedBy": true, "AllowDNSOnlyNodeCSR": false},
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
		"SidecarContainers=true":    "unrecognized feature gate: SidecarContainers",    // and in v1.37 (V-034)
		"RetryGenerateName=false":   "unrecognized feature gate: RetryGenerateName",
		"JobManagedBy=false":        "cannot set feature gate JobManagedBy to false, feature is locked to true",
		"JobManagedBy=false,SELinuxMount=false": "[cannot set feature gate JobManagedBy to false, feature is locked " +
			"to true, cannot set feature gate SELinuxMount to false, feature is locked to true]",
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
