package ownership

import (
	"encoding/json"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/storage"
)

// admission are the decoded objects that configure admission.
type admission struct {
	validating decoded[admissionv1.ValidatingWebhookConfiguration]
	mutating   decoded[admissionv1.MutatingWebhookConfiguration]
	policies   decoded[admissionv1.ValidatingAdmissionPolicy]
	bindings   decoded[admissionv1.ValidatingAdmissionPolicyBinding]
}

// decoded are a collection's objects, which are decoded again when one of them has changed.
type decoded[T any] struct {
	from []*storage.Object
	all  []T
}

// of are the objects of the resource, if the user may list it. Objects that can't be decoded are left out.
func (d *decoded[T]) of(f *finder, name string) []T {
	r := f.table.names[name]
	if r == nil || f.reach[r] != all {
		return nil
	}
	var from []*storage.Object
	f.each(r, "", func(o *storage.Object) bool {
		from = append(from, o)
		return true
	})
	if !slices.Equal(d.from, from) {
		d.from, d.all = from, nil
		for _, o := range from {
			var one T
			if o.Err == nil && json.Unmarshal(o.JSON, &one) == nil {
				d.all = append(d.all, one)
			}
		}
	}
	return d.all
}

// hooks are the webhooks and policies that the user may list. The caller holds the lock of kept, whose objects do not
// change any more.
func (f *finder) hooks(kept *admission) []explain.Hook {
	a := cluster.Admission{
		Validating: kept.validating.of(f, cluster.ValidatingWebhooks),
		Mutating:   kept.mutating.of(f, cluster.MutatingWebhooks),
		Policies:   kept.policies.of(f, cluster.Policies),
		Bindings:   kept.bindings.of(f, cluster.PolicyBindings),
	}
	known := map[[2]string]string{}
	return a.Hooks(func(namespace, name string) string {
		service := [2]string{namespace, name}
		why, ok := known[service]
		if !ok {
			why = f.unreachable(namespace, name)
			known[service] = why
		}
		return why
	})
}

// unreachable says why the server can't call a service; empty if it can, or if the user may not list what tells.
func (f *finder) unreachable(namespace, name string) string {
	services := f.table.names["services"]
	if services == nil || f.reach[services] != all {
		return ""
	}
	snapshot := f.snapshot(services)
	if snapshot == nil {
		return ""
	}
	o := snapshot.Get(f.source.key(services, namespace, name))
	if o == nil {
		return cluster.Absent(namespace, name)
	}
	var s corev1.Service
	if o.Err != nil || json.Unmarshal(o.JSON, &s) != nil {
		return ""
	}
	endpoints := f.table.names[cluster.EndpointSlices]
	if endpoints == nil || !f.by.Authorize(endpoints.list(f.user, namespace)).Allowed() {
		return ""
	}
	if snapshot = f.snapshot(endpoints); snapshot == nil {
		return ""
	}
	var of []discoveryv1.EndpointSlice
	whole := true
	prefix := f.source.key(endpoints, namespace, "")
	snapshot.Ascend(prefix, prefix, func(o *storage.Object) bool {
		if o.Meta.Labels[discoveryv1.LabelServiceName] == name {
			var one discoveryv1.EndpointSlice
			whole = whole && o.Err == nil && json.Unmarshal(o.JSON, &one) == nil
			of = append(of, one)
		}
		return true
	})
	if whole && !cluster.Ready(&s, of) {
		return cluster.Unready(namespace, name)
	}
	return ""
}
