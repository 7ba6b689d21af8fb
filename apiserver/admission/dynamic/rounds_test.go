package dynamic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// mutations are the webhooks of upstream's test of reinvocation (K
// test/integration/apiserver/admissionwebhook/reinvocation_test.go): each returns its changes to the pod.
var mutations = map[string]func(*corev1.Pod) string{
	"noop": func(*corev1.Pod) string { return "" },
	"addlabel": func(p *corev1.Pod) string {
		if p.Labels["a"] == "true" {
			return ""
		}
		return `[{"op":"add","path":"/metadata/labels/a","value":"true"}]`
	},
	"conditionaladdlabel": func(p *corev1.Pod) string {
		if p.Labels["a"] != "true" || p.Labels["b"] == "true" {
			return ""
		}
		return `[{"op":"add","path":"/metadata/labels/b","value":"true"}]`
	},
	"priority": func(p *corev1.Pod) string {
		if p.Spec.PriorityClassName == "high" {
			return ""
		}
		return `[{"op":"add","path":"/spec/priorityClassName","value":"high"},{"op":"remove","path":"/spec/priority"}]`
	},
	"invalid": func(*corev1.Pod) string {
		return `[{"op":"add","path":"/spec/priorityClassName","value":"invalid"}]`
	},
	"settrue":  func(*corev1.Pod) string { return `[{"op":"add","path":"/metadata/labels/x","value":"true"}]` },
	"setfalse": func(*corev1.Pod) string { return `[{"op":"add","path":"/metadata/labels/x","value":"false"}]` },
}

// TestCallsOfWebhooksEqualUpstreams is upstream's table of how often webhooks are called (L-53 to L-56, L-S08).
// Webhooks are called in the order of their names. A DELETE has no object that a change could be found in.
func TestCallsOfWebhooksEqualUpstreams(t *testing.T) {
	c := start(t)
	const classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
	c.want(201, "POST", classes, `{"metadata":{"name":"high"},"value":100}`)
	c.want(201, "POST", classes, `{"metadata":{"name":"usual"},"value":1,"globalDefault":true}`)
	for name, change := range mutations {
		c.hook.ScriptPath("/"+name, func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
			var p corev1.Pod
			if review.Request.Operation == admissionv1.Create && json.Unmarshal(review.Request.Object.Raw, &p) != nil {
				t.Errorf("%s", review.Request.Object.Raw)
			}
			if doc := change(&p); doc != "" && review.Request.Operation == admissionv1.Create {
				patch(doc)(w, review)
				return
			}
			webhooktest.Allow(w, review)
		})
	}
	const never, again = "Never", "IfNeeded"
	type hook struct{ mutation, policy, selector string }
	for _, test := range []struct {
		name  string
		hooks []hook
		// want are the calls. label and priority are those of the pod.
		want     []string
		label    string
		priority int32
		message  string
	}{
		{name: "noop", hooks: []hook{{"noop", again, ""}}, want: []string{"noop"}, priority: 1},
		{
			name: "one change", hooks: []hook{{"addlabel", again, ""}}, want: []string{"addlabel"}, label: "a=true", priority: 1,
		},
		{name: "a change that a plugin reacts to", hooks: []hook{{"priority", again, ""}},
			want: []string{"priority", "priority"}, priority: 100},
		{name: "a change for an earlier one", hooks: []hook{{"conditionaladdlabel", again, ""}, {"addlabel", again, ""}},
			want:  []string{"conditionaladdlabel", "addlabel", "conditionaladdlabel", "addlabel"},
			label: "b=true", priority: 1},
		{name: "a change for a later one", hooks: []hook{{"addlabel", again, ""}, {"conditionaladdlabel", again, ""}},
			want: []string{"addlabel", "conditionaladdlabel", "addlabel"}, label: "b=true", priority: 1},
		{name: "two against each other", hooks: []hook{{"settrue", again, ""}, {"setfalse", again, ""}},
			want: []string{"settrue", "setfalse", "settrue", "setfalse"}, label: "x=false", priority: 1},
		{name: "one that does not match at first", hooks: []hook{{"noop", again, `"a":"true"`}, {"addlabel", again, ""}},
			want: []string{"addlabel"}, label: "a=true", priority: 1},
		{name: "never", hooks: []hook{{"conditionaladdlabel", never, ""}, {"addlabel", never, ""}},
			want: []string{"conditionaladdlabel", "addlabel"}, label: "a=true", priority: 1},
		{name: "an error of the second round", hooks: []hook{{"invalid", again, ""}}, want: []string{"invalid"},
			message: "no PriorityClass with name invalid was found"},
	} {
		var webhooks []string
		for _, h := range test.hooks {
			more := []string{`"reinvocationPolicy":"` + h.policy + `"`}
			if h.selector != "" {
				more = append(more, `"objectSelector":{"matchLabels":{`+h.selector+`}}`)
			}
			webhooks = append(webhooks, c.webhook(h.mutation, "/"+h.mutation, rule("*", "", "v1", "pods"), more...))
		}
		c.want(201, "POST", hookConfigs+"mutatingwebhookconfigurations", c.configuration("Mutating", "m", webhooks...))
		c.hook.Seen()
		a := c.Do("POST", pods, pod("p", "own=label"))
		if got := strings.ReplaceAll(strings.Join(c.calls(), " "), "/", ""); got != strings.Join(test.want, " ") {
			t.Errorf("%s: calls %s, want %v", test.name, got, test.want)
		}
		switch {
		case test.message != "":
			if a.Code != 403 || !strings.Contains(a.Status().Message, test.message) {
				t.Errorf("%s: %d %s", test.name, a.Code, a.Body)
			}
		case a.Code != 201:
			t.Errorf("%s: %d %s", test.name, a.Code, a.Body)
		default:
			checkPod(t, test.name, a.Body, test.label, test.priority)
			c.want(200, "DELETE", pods+"/p?gracePeriodSeconds=0", nil)
		}
		c.want(200, "DELETE", hookConfigs+"mutatingwebhookconfigurations/m", nil)
	}
}

func checkPod(t *testing.T, name string, body []byte, label string, priority int32) {
	t.Helper()
	var p corev1.Pod
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatal(err)
	}
	var labels []string
	for key, value := range p.Labels {
		labels = append(labels, key+"="+value)
	}
	if label != "" && !slices.Contains(labels, label) || *p.Spec.Priority != priority {
		t.Errorf("%s: labels %v, priority %d", name, labels, *p.Spec.Priority)
	}
}

// TestFieldsOfWebhooksHaveNoManager: a field that a webhook adds has no manager. A webhook's change of managedFields is
// undone with a warning. An object that a webhook has changed is validated like an object of a client (L-93 to L-95,
// L-S09, L-S18).
func TestFieldsOfWebhooksHaveNoManager(t *testing.T) {
	c := start(t)
	c.hook.ScriptPath("/label", patch(`[{"op":"add","path":"/metadata/labels","value":{"added":"yes"}}]`))
	c.hook.ScriptPath("/clear",
		patch(`[{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"x","operation":"Nonsense"}]}]`))
	c.hook.ScriptPath("/break", patch(`[{"op":"add","path":"/data","value":{"no/key":""}}]`))
	for _, name := range []string{"label", "clear", "break"} {
		c.register("Mutating", name, "/"+name, rule("CREATE", "", "v1", "configmaps"),
			fmt.Sprintf(`"matchConditions":[{"name":"c","expression":"object.metadata.name == '%s'"}]`, name))
	}
	for _, name := range []string{"label", "clear"} {
		a := c.want(201, "POST", maps+"?fieldManager=f", `{"metadata":{"name":"`+name+`"},"data":{"a":"b"}}`)
		fields := encode(a.Object().Object["metadata"].(map[string]any)["managedFields"])
		if !strings.Contains(fields, `"f:a"`) || strings.Contains(fields, "added") ||
			!strings.Contains(fields, `"manager":"f"`) {
			t.Errorf("%s: managedFields %s", name, fields)
		}
		warnings := strings.Join(a.Header.Values("Warning"), ";")
		if name == "clear" != strings.Contains(warnings, ".metadata.managedFields was in an invalid state after admission") {
			t.Errorf("%s: warnings %s", name, warnings)
		}
	}
	c.says(c.want(422, "POST", maps, `{"metadata":{"name":"break"}}`), "data[no/key]: Invalid value")
}
