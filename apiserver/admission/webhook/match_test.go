package webhook_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admission "github.com/kubecascade/kubecascade/apiserver/admission/webhook"
)

// TestSelectorsMatchNamespacesAndObjects: L-37 and L-40.
func TestSelectorsMatchNamespacesAndObjects(t *testing.T) {
	selected, err := labels.Parse("a=b")
	if err != nil {
		t.Fatal(err)
	}
	pods, namespaces := schema.GroupVersionResource{Version: "v1", Resource: "pods"},
		schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	yes, no := labels.Set{"a": "b"}, labels.Set{"a": "c"}
	missing := errors.New("not found")
	for _, c := range []struct {
		name        string
		target      admission.Target
		selector    labels.Selector
		own, stored labels.Set
		err         error
		want        bool
	}{
		{"everything", admission.Target{Resource: pods, Namespace: "n"}, labels.Everything(), nil, nil, missing, true},
		{
			"cluster-scoped", admission.Target{Resource: schema.GroupVersionResource{Resource: "nodes"}}, selected, nil, no, nil,
			true,
		},
		{"namespaced", admission.Target{Resource: pods, Namespace: "n"}, selected, nil, yes, nil, true},
		{"another", admission.Target{Resource: pods, Namespace: "n"}, selected, nil, no, nil, false},
		{"missing", admission.Target{Resource: pods, Namespace: "n"}, selected, nil, nil, missing, false},
		{
			"created", admission.Target{Resource: namespaces, Namespace: "n", Operation: "CREATE"}, selected, yes, no, nil, true,
		},
		{
			"updated", admission.Target{Resource: namespaces, Namespace: "n", Operation: "UPDATE"}, selected, no, yes, nil,
			false,
		},
		{
			"deleted", admission.Target{Resource: namespaces, Namespace: "n", Operation: "DELETE"}, selected, no, yes, nil, true,
		},
		{
			"finalized", admission.Target{Resource: namespaces, Subresource: "finalize", Namespace: "n", Operation: "UPDATE"},
			selected, no, yes, nil, true,
		},
	} {
		got, err := c.target.InNamespace(c.selector, c.own, func() (labels.Set, error) { return c.stored, c.err })
		if got != c.want || c.name == "missing" && !errors.Is(err, missing) || c.name != "missing" && err != nil {
			t.Errorf("%s: %t, %v", c.name, got, err)
		}
	}
	for _, c := range []struct {
		object, old *labels.Set
		want        bool
	}{{&yes, nil, true}, {&no, nil, false}, {&no, &yes, true}, {nil, &yes, true}, {nil, nil, false}} {
		if got := admission.Selects(selected, c.object, c.old); got != c.want {
			t.Errorf("%v %v: %t", c.object, c.old, got)
		}
		if !admission.Selects(labels.Everything(), c.object, c.old) {
			t.Errorf("everything does not select %v %v", c.object, c.old)
		}
	}
}

// TestConfigurationsAreExempt: L-23. Other kinds of the group are not.
func TestConfigurationsAreExempt(t *testing.T) {
	for resource, want := range map[string]bool{
		"validatingwebhookconfigurations": true, "mutatingadmissionpolicybindings": true, "others": false,
	} {
		for _, version := range []string{"v1", "v1beta1"} {
			r := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: version, Resource: resource}
			if admission.Exempt(r) != want {
				t.Errorf("%v: %t", r, !want)
			}
			if r.Group = "example.com"; admission.Exempt(r) {
				t.Errorf("%v is exempt", r)
			}
		}
	}
}
