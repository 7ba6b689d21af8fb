package explain

import (
	"slices"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// kubernetes is the finalizer in a namespace's spec that the namespace controller removes.
const kubernetes = "kubernetes"

// immortal are the namespaces whose deletion is forbidden (E-05, B-74).
var immortal = []string{"default", "kube-system", "kube-public"}

// immortal reports whether the object is such a namespace.
func (x *index) immortal(k graph.Key) bool {
	r := x.resources[k.Collection]
	return r != nil && r.Delete.Namespace && slices.Contains(immortal, k.Name)
}

// clean lets the controllers of namespaces and of CRDs work once, and reports whether they did something.
func (w *world) clean() bool {
	before := w.revision
	for _, o := range w.sorted(func(o *Object) bool { return !o.Deletion.IsZero() }) {
		switch k := w.kind(o); {
		case k.Namespace && slices.Contains(o.Namespace.Finalizers, kubernetes):
			w.cleanNamespace(o)
		case k.Cleanup != "" && slices.Contains(o.Finalizers, k.Cleanup):
			w.cleanCRD(o, k.Cleanup)
		}
	}
	return w.revision > before
}

// cleanNamespace deletes the pods of a namespace, then the rest, and then removes the finalizer (E-08 to E-11).
func (w *world) cleanNamespace(o *Object) {
	in := func(pods bool) []*Object {
		return w.sorted(func(p *Object) bool {
			return p.Key.Namespace == o.Name && (!pods || w.kind(p).Graceful)
		})
	}
	for _, pods := range []bool{true, false} {
		for _, p := range in(pods) {
			w.delete(p, finalizers.Options{PropagationPolicy: "Background"}, NamespaceController)
		}
		if len(in(pods)) > 0 {
			return
		}
	}
	if !w.held {
		w.finalize(o, kubernetes, NamespaceController)
	}
}

// cleanCRD deletes the objects of a CRD, and then removes the finalizer.
func (w *world) cleanCRD(o *Object, finalizer string) {
	instances := func() []*Object {
		return w.sorted(func(p *Object) bool { return p.Collection == o.defines() })
	}
	for _, p := range instances() {
		w.delete(p, finalizers.Options{}, CRDController)
	}
	if len(instances()) == 0 {
		w.removeFinalizer(o, finalizer, CRDController)
	}
}

// confirm lets the kubelets end the pods that are being deleted, as if their grace periods were over.
func (w *world) confirm() bool {
	before := w.revision
	var now int64
	for _, o := range w.sorted(func(o *Object) bool { return o.GraceSeconds != nil && *o.GraceSeconds > 0 }) {
		if !o.Deletion.IsZero() {
			w.delete(o, finalizers.Options{GracePeriodSeconds: &now}, Kubelet)
		}
	}
	return w.revision > before
}

// expect removes finalizers that well-known components remove by themselves, once nothing else is left to do.
func (w *world) expect() bool {
	before := w.revision
	for _, o := range w.sorted(func(o *Object) bool { return !o.Deletion.IsZero() && len(o.Finalizers) > 0 }) {
		for _, name := range slices.Clone(o.Finalizers) {
			if known := Lookup(name); known != nil && known.Expected {
				if now := w.objects[o.Key]; now != nil {
					w.removeFinalizer(now, name, By(known.Component))
				}
			}
		}
	}
	return w.revision > before
}
