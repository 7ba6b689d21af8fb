package resources

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/autoscaling"
	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// wire adapts the hooks of all entries to the versions of their objects.
func wire(all []*Resource) {
	served := map[schema.GroupVersionKind]bool{}
	for _, r := range all {
		served[r.GroupVersionKind()] = true
	}
	for _, r := range all {
		if r.Table.Cells == nil {
			r.Table = entry.DefaultTable()
		}
		if r.FromStored == nil {
			continue
		}
		h := hubOf(r, served)
		r.Strategy.Default = defaulting(r, h)
		adapt(r, h)
		r.Delete.Mark, r.Delete.Begin = h.change(r.Delete.Mark), h.change(r.Delete.Begin)
	}
}

// hub is the version of a kind for which hooks are written: the stored version if it is served, and otherwise the
// served version. Hooks of the table accept objects of both versions, and change them in place.
type hub struct {
	to, from func(runtime.Object) (runtime.Object, error)
}

func hubOf(r *Resource, served map[schema.GroupVersionKind]bool) hub {
	if served[r.Stored] {
		return hub{to: r.ToStored, from: r.FromStored}
	}
	return hub{to: r.FromStored, from: r.ToStored}
}

// see returns obj in the hub's version. If obj has this version, see returns obj itself.
func (h hub) see(obj runtime.Object) runtime.Object {
	if h.to == nil || obj == nil {
		return obj
	}
	return must(h.to(obj))
}

// put copies the changes of see(obj) back to obj.
func (h hub) put(obj, seen runtime.Object) {
	if obj == seen {
		return
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(must(h.from(seen))).Elem())
	obj.GetObjectKind().SetGroupVersionKind(gvk)
}

// must panics on an error: hooks are called only with objects of the two versions of their kind, which can be
// converted.
func must(obj runtime.Object, err error) runtime.Object {
	if err != nil {
		panic(fmt.Sprintf("resources: a hook received an object of a kind or version that it does not accept: %v", err))
	}
	return obj
}

// change adapts a hook that changes an object.
func (h hub) change(f func(runtime.Object)) func(runtime.Object) {
	if f == nil || h.to == nil {
		return f
	}
	return func(obj runtime.Object) {
		seen := h.see(obj)
		f(seen)
		h.put(obj, seen)
	}
}

// update adapts a hook that changes an object depending on the stored one.
func (h hub) update(f func(obj, old runtime.Object)) func(obj, old runtime.Object) {
	if f == nil || h.to == nil {
		return f
	}
	return func(obj, old runtime.Object) {
		seen := h.see(obj)
		f(seen, h.see(old))
		h.put(obj, seen)
	}
}

// seeOne adapts a hook that reads an object.
func seeOne[R any](h hub, f func(runtime.Object) R) func(runtime.Object) R {
	if f == nil || h.to == nil {
		return f
	}
	return func(obj runtime.Object) R { return f(h.see(obj)) }
}

// seeBoth adapts a hook that reads an object and the stored one, which may be nil.
func seeBoth[R any](h hub, f func(obj, old runtime.Object) R) func(obj, old runtime.Object) R {
	if f == nil || h.to == nil {
		return f
	}
	return func(obj, old runtime.Object) R { return f(h.see(obj), h.see(old)) }
}

// permit adapts a hook that looks up permissions.
func (h hub) permit(
	f func(obj, old runtime.Object, user string, may entry.May) field.ErrorList,
) func(obj, old runtime.Object, user string, may entry.May) field.ErrorList {
	if f == nil || h.to == nil {
		return f
	}
	return func(obj, old runtime.Object, user string, may entry.May) field.ErrorList {
		return f(h.see(obj), h.see(old), user, may)
	}
}

// adapt makes the hooks for one version of a kind accept another version, except the hooks for defaults and deletion.
func adapt(r *Resource, h hub) {
	st := &r.Strategy
	st.Prepare = h.update(st.Prepare)
	st.Metadata.NameOf = seeOne(h, st.Metadata.NameOf)
	st.EarlyWarnings, st.Validate = seeOne(h, st.EarlyWarnings), seeBoth(h, st.Validate)
	st.Warnings = seeBoth(h, st.Warnings)
	r.Subresources = slices.Clone(r.Subresources) // versions share them
	for i := range r.Subresources {
		sub := &r.Subresources[i]
		sub.PrepareUpdate, sub.Permit = h.update(sub.PrepareUpdate), h.permit(sub.Permit)
		sub.ValidateUpdate, sub.Warnings = seeBoth(h, sub.ValidateUpdate), seeBoth(h, sub.Warnings)
	}
	r.Table = r.Table.Seen(h.see)
}

// defaulting returns a hook that sets the defaults of an object's own version. If the stored version has no defaults,
// its objects get those of the served version.
func defaulting(r *Resource, h hub) func(runtime.Object) {
	own, stored := r.Strategy.Default, r.Strategy.DefaultStored
	if stored == nil {
		return h.change(own)
	}
	served := reflect.TypeOf(r.New())
	return func(obj runtime.Object) {
		if reflect.TypeOf(obj) == served {
			own(obj)
			return
		}
		stored(obj)
	}
}

// TableOf returns the table of a built-in kind that is not a resource: that of Scale, or the default one.
func TableOf(gk schema.GroupKind) Table {
	if gk == ScaleKind.GroupKind() {
		return autoscaling.ScaleTable()
	}
	return entry.DefaultTable()
}
