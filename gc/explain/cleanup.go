package explain

import (
	"slices"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// kubernetes is the finalizer in a namespace's spec that the namespace controller removes.
const kubernetes = "kubernetes"

// immortal reports whether the object can't be deleted, such as some namespaces (E-05, B-74).
func (x *Index) immortal(k graph.Key) bool {
	r := x.resources[k.Collection]
	return r != nil && (r.Fixed ||
		r.Delete.Namespace && slices.Contains([]string{"default", "kube-system", "kube-public"}, k.Name))
}

// clean simulates one pass of the controllers of namespaces and of CRDs. The pods of a namespace are deleted before the
// rest (E-08 to E-11).
func (w *world) clean() {
	background := finalizers.Options{PropagationPolicy: "Background"}
	for _, o := range sorted(w.deleting) {
		content := slices.SortedFunc(slices.Values(w.content[o.Key]), byKey)
		switch k := w.kind(o); {
		case k.Namespace && slices.Contains(o.SpecFinalizers, kubernetes):
			empty := w.sweep(w.pods(content), background, NamespaceController) &&
				w.sweep(content, background, NamespaceController)
			if empty && len(w.c.Unavailable) == 0 { // E-14
				w.finalize(o, kubernetes, NamespaceController)
			}
		case k.Cleanup != "" && slices.Contains(o.Finalizers, k.Cleanup):
			if w.sweep(content, finalizers.Options{}, CRDController) {
				w.removeFinalizer(o, k.Cleanup, CRDController)
			}
		}
	}
}

// sweep deletes the remaining objects of a content, and reports whether none remains.
func (w *world) sweep(content []*Object, options finalizers.Options, by string) bool {
	left := func(o *Object) bool { return w.objects[o.Key] != nil }
	for _, o := range content {
		if left(o) {
			w.delete(w.objects[o.Key], options, by)
		}
	}
	return !slices.ContainsFunc(content, left)
}

// pods returns those of the objects that end gracefully.
func (w *world) pods(of []*Object) []*Object {
	return slices.DeleteFunc(slices.Clone(of), func(o *Object) bool { return !w.kind(o).Graceful })
}

// confirm simulates the kubelets: it ends the pods that are being deleted, as if their grace periods were over.
func (w *world) confirm() {
	for _, o := range sorted(w.deleting) {
		if o.GraceSeconds != nil && *o.GraceSeconds > 0 {
			w.delete(o, finalizers.Options{GracePeriodSeconds: new(int64)}, Kubelet)
		}
	}
}

// expect simulates well-known components: when nothing else is left to do, they remove their finalizers from objects
// that nothing uses.
func (w *world) expect() {
	for _, o := range sorted(w.deleting) {
		for _, name := range o.Finalizers {
			if now := w.objects[o.Key]; expected(name) && now != nil && len(w.users(now)) == 0 {
				w.removeFinalizer(now, name, lookup(name).Component)
			}
		}
	}
}

func expected(finalizer string) bool { return lookup(finalizer).Expected }

// users returns the objects that use o, so that an Expected finalizer keeps it.
func (w *world) users(o *Object) (users []ObjectReference) {
	if !slices.ContainsFunc(o.Finalizers, expected) {
		return nil
	}
	other := func(k graph.Key) bool { return k != o.Key && w.objects[k] != nil }
	needs := func(group []graph.Key) bool {
		return slices.Contains(group, o.Key) && !slices.ContainsFunc(group, other)
	}
	for _, user := range w.used[o.Key] {
		switch now := w.objects[user.Key]; {
		case now == nil, o.Controller == now.UID && now.GraceSeconds != nil && *now.GraceSeconds == 0: // F-05
		case slices.ContainsFunc(user.Uses, needs):
			users = append(users, w.ref(now))
		}
	}
	return users
}
