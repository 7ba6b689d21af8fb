package kubecascadetest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/kubecascadetest"
)

// TestGatesAreOfTheServer: feature gates are those of a server, not of the process (V-029). Without HPAScaleToZero an
// autoscaler has at least one replica (V-061); without MaxUnavailableStatefulSet the field is dropped unless it is
// stored, and has no default (V-015).
func TestGatesAreOfTheServer(t *testing.T) {
	gates := func(on bool) func(*kubecascade.Options) {
		return func(o *kubecascade.Options) {
			o.Controllers.Enabled = []string{}
			o.API.FeatureGates = map[string]bool{"HPAScaleToZero": on, "MaxUnavailableStatefulSet": on}
		}
	}
	without := newClient(t, kubecascadetest.New(t, gates(false)))
	with := newClient(t, kubecascadetest.New(t, gates(true)))
	const autoscalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
	const autoscaler = `{"metadata":{"name":"h"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment",
		"name":"d"},"minReplicas":0,"maxReplicas":3,"metrics":[{"type":"External","external":{"metric":{"name":"hits"},
		"target":{"type":"Value","value":1}}}]}}`
	const sets = "/apis/apps/v1/namespaces/default/statefulsets"
	const set = `{"metadata":{"name":"NAME"},"spec":{"selector":{"matchLabels":{"a":"b"}},"updateStrategy":{STRATEGY},
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	made := func(c *client, name, strategy string) string {
		t.Helper()
		return c.do("POST", sets, strings.NewReplacer("NAME", name, "STRATEGY", strategy).Replace(set), http.StatusCreated)
	}
	const two = `"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":2}`

	const refusal = `spec.minReplicas: Invalid value: 0: must be greater than or equal to 1`
	got := without.do("POST", autoscalers, autoscaler, http.StatusUnprocessableEntity)
	if !strings.Contains(got, refusal) {
		t.Errorf("without the gate: %s", got)
	}
	v1 := strings.Replace(autoscalers, "/v2/", "/v1/", 1)
	got = without.do("POST", v1, `{"metadata":{"name":"h"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1",
		"kind":"Deployment","name":"d"},"minReplicas":0,"maxReplicas":3}}`, http.StatusUnprocessableEntity)
	if !strings.Contains(got, refusal) {
		t.Errorf("without the gate, in v1: %s", got)
	}
	with.do("POST", autoscalers, autoscaler, http.StatusCreated)

	for _, strategy := range []string{"", two} {
		name := "s" + map[string]string{"": "1", two: "2"}[strategy]
		if got := made(without, name, strategy); strings.Contains(got, `"maxUnavailable"`) {
			t.Errorf("without the gate, from %q: %s", strategy, got)
		}
		want := map[string]string{"": `"maxUnavailable":1`, two: `"maxUnavailable":2`}[strategy]
		if got := made(with, name, strategy); !strings.Contains(got, want) {
			t.Errorf("with the gate, from %q: %s", strategy, got)
		}
	}
}

// TestStoredMaxUnavailable: without MaxUnavailableStatefulSet the field of a stored object is kept, and may be changed
// (V-015).
func TestStoredMaxUnavailable(t *testing.T) {
	dir := t.TempDir()
	server := func(on bool) *kubecascade.Server {
		return kubecascadetest.New(t, func(o *kubecascade.Options) {
			o.Storage.Dir, o.Controllers.Enabled = dir, []string{}
			o.API.FeatureGates = map[string]bool{"MaxUnavailableStatefulSet": on}
		})
	}
	const sets = "/apis/apps/v1/namespaces/default/statefulsets"
	const set = `{"metadata":{"name":"s","resourceVersion":""},"spec":{"selector":{"matchLabels":{"a":"b"}},
		"updateStrategy":{"rollingUpdate":{"maxUnavailable":2}},"template":{"metadata":{"labels":{"a":"b"}},
		"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	with := server(true)
	newClient(t, with).do("POST", sets, set, http.StatusCreated)
	if err := with.Stop(); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, server(false))
	got := c.do("PUT", sets+"/s", strings.Replace(set, ":2", ":3", 1), http.StatusOK)
	if !strings.Contains(got, `"maxUnavailable":3`) {
		t.Errorf("changed: %s", got)
	}
	c.do("PUT", sets+"/s", strings.Replace(set, `{"maxUnavailable":2}`, "{}", 1), http.StatusOK)
	got = c.do("PUT", sets+"/s", set, http.StatusOK)
	if strings.Contains(got, `"maxUnavailable"`) {
		t.Errorf("set again: %s", got)
	}
}
