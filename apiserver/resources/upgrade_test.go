package resources

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEarlierVersionsAreUpgraded: earlier versions are converted as kube-apiserver converts them. Versions from before
// Kubernetes v1.30 are not converted.
func TestEarlierVersionsAreUpgraded(t *testing.T) {
	const spec = `,"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":0,"limitResponse":{"type":"Reject"}}}`
	object := func(version, annotations string) string {
		return `{"kind":"PriorityLevelConfiguration","apiVersion":"flowcontrol.apiserver.k8s.io/` + version +
			`","metadata":{"name":"a","annotations":{` + annotations + `"b":"c"}}` + spec
	}
	got, err := Upgrade("flowcontrol.apiserver.k8s.io/v1beta3", "PriorityLevelConfiguration",
		[]byte(object("v1beta3", `"flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares":"",`)+"}"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(anyOf(t, object("v1", "")+`,"status":{}}`), anyOf(t, string(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := Upgrade("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema", []byte(`{"spec":7}`)); err == nil {
		t.Errorf("a value that isn't a FlowSchema became %s", got)
	}
	for _, before := range []string{"apps/v1beta2 Deployment", "batch/v1beta1 CronJob", "policy/v1beta1 PodDisruptionBudget"} {
		version, kind, _ := strings.Cut(before, " ")
		if got, err := Upgrade(version, kind, []byte(`{}`)); got != nil || err != nil {
			t.Errorf("%s becomes %s, %v", before, got, err)
		}
	}
}

func anyOf(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// TestUpgradesEndInStoredVersion: every conversion returns the version in which the kind is stored. Stored versions
// have no conversion.
func TestUpgradesEndInStoredVersion(t *testing.T) {
	stored := map[string]bool{}
	for _, r := range Every(nil) {
		if r.Collection == "" || r.Custom {
			continue
		}
		stored[r.Stored.GroupVersion().String()+" "+r.Stored.Kind] = true
		if upgrades()[r.Stored] != nil {
			t.Errorf("%s is stored, and converted", r.Stored)
		}
	}
	n := 0
	for gvk := range upgrades() {
		n++
		apiVersion, kind := gvk.ToAPIVersionAndKind()
		value := []byte(`{"kind":"` + kind + `","apiVersion":"` + apiVersion + `","metadata":{"name":"a"}}`)
		data, err := Upgrade(apiVersion, kind, value)
		if err != nil {
			t.Errorf("%s %s: %v", apiVersion, kind, err)
			continue
		}
		var is struct{ APIVersion, Kind string }
		if err := json.Unmarshal(data, &is); err != nil || !stored[is.APIVersion+" "+is.Kind] {
			t.Errorf("%s %s becomes %+v, %v", apiVersion, kind, is, err)
		}
	}
	if n < 30 {
		t.Errorf("%d conversions", n)
	}
}
