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

func (w *world) deleting() []*Object {
	return w.sorted(func(o *Object) bool { return !o.Deletion.IsZero() })
}

// clean simulates one pass of the controllers of namespaces and of CRDs. The pods of a namespace are deleted before the
// rest (E-08 to E-11).
func (w *world) clean() {
	background := finalizers.Options{PropagationPolicy: "Background"}
	for _, o := range w.deleting() {
		in := func(p *Object) bool { return p.Namespace == o.Name }
		pods := func(p *Object) bool { return in(p) && w.kind(p).Graceful }
		instances := func(p *Object) bool { return p.Collection == o.Name }
		switch k := w.kind(o); {
		case k.Namespace && slices.Contains(o.SpecFinalizers, kubernetes):
			empty := w.sweep(pods, background, NamespaceController) && w.sweep(in, background, NamespaceController)
			if empty && !(w.c.Held && len(w.c.Unavailable) > 0) {
				w.finalize(o, kubernetes, NamespaceController)
			}
		case k.Cleanup != "" && slices.Contains(o.Finalizers, k.Cleanup):
			if w.sweep(instances, finalizers.Options{}, CRDController) {
				w.removeFinalizer(o, k.Cleanup, CRDController)
			}
		}
	}
}

// sweep deletes the objects for which f holds, and reports whether none is left.
func (w *world) sweep(f func(*Object) bool, options finalizers.Options, by By) bool {
	for _, o := range w.sorted(f) {
		w.delete(o, options, by)
	}
	return len(w.sorted(f)) == 0
}

// confirm simulates the kubelets: it ends the pods that are being deleted, as if their grace periods were over.
func (w *world) confirm() {
	for _, o := range w.deleting() {
		if o.GraceSeconds != nil && *o.GraceSeconds > 0 {
			w.delete(o, finalizers.Options{GracePeriodSeconds: new(int64)}, Kubelet)
		}
	}
}

// expect simulates well-known components: it removes the finalizers that they remove when nothing else is left to do.
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
