package explain

import (
	"slices"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// kubernetes is the finalizer in a namespace's spec that the namespace controller removes.
const kubernetes = "kubernetes"

// immortal reports whether the object is a namespace whose deletion is forbidden (E-05, B-74).
func (x *index) immortal(k graph.Key) bool {
	r := x.resources[k.Collection]
	return r != nil && r.Delete.Namespace && slices.Contains([]string{"default", "kube-system", "kube-public"}, k.Name)
}

// deleting are the objects that are being deleted.
func (w *world) deleting() []*Object {
	return w.sorted(func(o *Object) bool { return !o.Deletion.IsZero() })
}

// clean lets the controllers of namespaces and of CRDs work once.
func (w *world) clean() {
	for _, o := range w.deleting() {
		switch k := w.kind(o); {
		case k.Namespace && slices.Contains(o.Namespace.Finalizers, kubernetes):
			w.cleanNamespace(o)
		case k.Cleanup != "" && slices.Contains(o.Finalizers, k.Cleanup):
			w.cleanCRD(o, k.Cleanup)
		}
	}
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
func (w *world) confirm() {
	for _, o := range w.deleting() {
		if o.GraceSeconds != nil && *o.GraceSeconds > 0 {
			w.delete(o, finalizers.Options{GracePeriodSeconds: new(int64)}, Kubelet)
		}
	}
}

// expect removes finalizers that well-known components remove by themselves, once nothing else is left to do.
func (w *world) expect() {
	for _, o := range w.deleting() {
		for _, name := range o.Finalizers {
			known, now := Lookup(name), w.objects[o.Key]
			if known != nil && known.Expected && now != nil {
				w.removeFinalizer(now, name, By(known.Component))
			}
		}
	}
}
