package resources

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const budgetStatus = `"status":{"disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":0,"expectedPods":0}`

// TestUpgrade: versions whose fields differ from the stored ones are converted as kube-apiserver converts them.
func TestUpgrade(t *testing.T) {
	const rule = `{"host":"h","http":{"paths":[{"path":"/p","pathType":"Prefix","backend":`
	for _, c := range []struct{ name, version, kind, in, wantVersion, want string }{
		{
			"backends", "networking.k8s.io/v1beta1", "Ingress",
			`"spec":{"ingressClassName":"c","backend":{"serviceName":"a","servicePort":80},"tls":[{"secretName":"t"}],"rules":[` +
				rule + `{"serviceName":"b","servicePort":"http"}}]}},` +
				rule + `{"resource":{"kind":"Bucket","name":"n"}}}]}},{"host":"all"}]}`, "networking.k8s.io/v1",
			`"spec":{"ingressClassName":"c","defaultBackend":{"service":{"name":"a","port":{"number":80}}},` +
				`"tls":[{"secretName":"t"}],"rules":[` + rule + `{"service":{"name":"b","port":{"name":"http"}}}}]}},` +
				rule + `{"resource":{"apiGroup":null,"kind":"Bucket","name":"n"}}}]}},{"host":"all"}]},"status":{"loadBalancer":{}}`,
		},
		{
			"extensions", "extensions/v1beta1", "Ingress", `"spec":{"backend":{"serviceName":"a","servicePort":80}}`,
			"networking.k8s.io/v1", `"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":80}}}},` +
				`"status":{"loadBalancer":{}}`,
		},
		{
			"topology", "discovery.k8s.io/v1beta1", "EndpointSlice", `"addressType":"IPv4","endpoints":[` +
				`{"addresses":["1.2.3.4"],"nodeName":"n","topology":{"kubernetes.io/hostname":"n",` +
				`"topology.kubernetes.io/zone":"z","topology.kubernetes.io/region":"r"}},` +
				`{"addresses":["1.2.3.5"],"nodeName":"n","topology":{"kubernetes.io/hostname":"other"}}],"ports":[{"port":80}]`,
			"discovery.k8s.io/v1", `"addressType":"IPv4","endpoints":[` +
				`{"addresses":["1.2.3.4"],"conditions":{},"nodeName":"n","zone":"z",` +
				`"deprecatedTopology":{"topology.kubernetes.io/region":"r"}},` +
				`{"addresses":["1.2.3.5"],"conditions":{},"nodeName":"n",` +
				`"deprecatedTopology":{"kubernetes.io/hostname":"other"}}],"ports":[{"port":80}]`,
		},
		{
			"shares", "flowcontrol.apiserver.k8s.io/v1beta2", "PriorityLevelConfiguration",
			`"spec":{"type":"Limited","limited":{"assuredConcurrencyShares":7,"limitResponse":{"type":"Reject"}}}`,
			"flowcontrol.apiserver.k8s.io/v1",
			`"spec":{"type":"Limited","limited":{"nominalConcurrencyShares":7,"limitResponse":{"type":"Reject"}}},"status":{}`,
		},
		{
			"user of all users", "rbac.authorization.k8s.io/v1alpha1", "RoleBinding",
			`"subjects":[{"kind":"User","apiVersion":"rbac/v1alpha1","name":"*"},{"kind":"User","name":"jane"},` +
				`{"kind":"Group","name":"*"},{"kind":"ServiceAccount","apiVersion":"v1","name":"a","namespace":"b"}],` +
				`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}`,
			"rbac.authorization.k8s.io/v1",
			`"subjects":[{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"system:authenticated"},` +
				`{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"jane"},` +
				`{"kind":"Group","apiGroup":"rbac.authorization.k8s.io","name":"*"},` +
				`{"kind":"ServiceAccount","name":"a","namespace":"b"}],` +
				`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"r"}`,
		},
		{
			"spec", "node.k8s.io/v1alpha1", "RuntimeClass", `"spec":{"runtimeHandler":"h","overhead":{"podFixed":{"cpu":"1"}},` +
				`"scheduling":{"nodeSelector":{"a":"b"}}}`, "node.k8s.io/v1",
			`"handler":"h","overhead":{"podFixed":{"cpu":"1"}},"scheduling":{"nodeSelector":{"a":"b"}}`,
		},
		{
			"no pod", "policy/v1beta1", "PodDisruptionBudget", `"spec":{"minAvailable":1,"selector":{}}`, "policy/v1",
			`"spec":{"minAvailable":1,"selector":{"matchExpressions":[` +
				`{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"Exists"}]}},` + budgetStatus,
		},
		{
			"all pods", "policy/v1beta1", "PodDisruptionBudget", `"spec":{"minAvailable":1,"selector":{"matchExpressions":[` +
				`{"key":"pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match","operator":"DoesNotExist"}]}}`,
			"policy/v1", `"spec":{"minAvailable":1,"selector":{}},` + budgetStatus,
		},
		{
			"some pods", "policy/v1beta1", "PodDisruptionBudget", `"spec":{"selector":{"matchLabels":{"a":"b"}}}`,
			"policy/v1", `"spec":{"selector":{"matchLabels":{"a":"b"}}},` + budgetStatus,
		},
		{
			"defaults of v1beta1", "admissionregistration.k8s.io/v1beta1", "MutatingWebhookConfiguration",
			`"webhooks":[{"name":"a","clientConfig":{}},{"name":"b","clientConfig":{},"failurePolicy":"Fail",` +
				`"matchPolicy":"Equivalent","sideEffects":"None","timeoutSeconds":7,"admissionReviewVersions":["v1"]}]`,
			"admissionregistration.k8s.io/v1",
			`"webhooks":[{"name":"a","clientConfig":{},"failurePolicy":"Ignore","matchPolicy":"Exact",` +
				`"sideEffects":"Unknown","timeoutSeconds":30,"admissionReviewVersions":["v1beta1"]},` +
				`{"name":"b","clientConfig":{},"failurePolicy":"Fail",` +
				`"matchPolicy":"Equivalent","sideEffects":"None","timeoutSeconds":7,"admissionReviewVersions":["v1"]}]`,
		},
		{
			"twice", "events.k8s.io/v1beta1", "Event", `"note":"a","deprecatedCount":2,"regarding":{"kind":"Pod","name":"p"},` +
				`"eventTime":"2026-01-02T03:04:05.000006Z"`, "v1",
			`"involvedObject":{"kind":"Pod","name":"p"},"message":"a","count":2,"source":{},"firstTimestamp":null,` +
				`"lastTimestamp":null,"eventTime":"2026-01-02T03:04:05.000006Z","reportingComponent":"","reportingInstance":""`,
		},
	} {
		head := func(version string) string {
			return `{"kind":"` + c.kind + `","apiVersion":"` + version + `","metadata":{"name":"a","uid":"u"},`
		}
		got, err := Upgrade(c.version, c.kind, []byte(head(c.version)+c.in+"}"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(anyOf(t, head(c.wantVersion)+c.want+"}"), anyOf(t, string(got))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if got, err := Upgrade("batch/v1beta1", "CronJob", []byte(`{"spec":7}`)); err == nil {
		t.Errorf("a value that isn't a CronJob became %s", got)
	}
}

func anyOf(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

// TestUpgradesEnd: every conversion ends in the version in which the kind is stored, and stored versions have none.
func TestUpgradesEnd(t *testing.T) {
	stored := map[string]bool{}
	for _, r := range Every(nil) {
		if r.Collection == "" || r.Custom {
			continue
		}
		stored[r.Stored.GroupVersion().String()+" "+r.Stored.Kind] = true
		if u := upgrades()[r.Stored.GroupVersion().String()][r.Stored.Kind]; u != nil {
			t.Errorf("%s is stored, and converted", r.Stored)
		}
	}
	n := 0
	for apiVersion, kinds := range upgrades() {
		for kind := range kinds {
			n++
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
	}
	if n < 50 {
		t.Errorf("%d conversions", n)
	}
}
