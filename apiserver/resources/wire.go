package resources

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/defaults"
	"github.com/kubecascade/kubecascade/apiserver/resources/prepare"
	"github.com/kubecascade/kubecascade/apiserver/resources/printers"
	"github.com/kubecascade/kubecascade/apiserver/resources/validation"
)

// wire gives every entry its hooks from the packages that know the kinds. A hook that an entry
// brings itself runs after theirs.
func wire(all []*Resource) {
	served := map[schema.GroupVersionKind]bool{}
	for _, r := range all {
		served[r.GroupVersionKind()] = true
	}
	for _, r := range all {
		h := hubOf(r, served)
		r.Strategy.Default = both(defaulting(r, h), r.Strategy.Default)
		r.Delete.Mark, r.Delete.Begin = h.change(r.Delete.Mark), h.change(r.Delete.Begin)
		r.Table = printing(r, h)
		preparing(r, h)
		validating(r, h)
	}
}

// validating sets what the kind's objects and changes must be like.
func validating(r *Resource, h hub) {
	k := validation.For(r.GroupVersionKind().GroupKind())
	r.Strategy.Validate, r.Strategy.ValidateUpdate = h.judge(k.Create), h.compare(k.Update)
	for i := range r.Subresources { // preparing has made the list the entry's own
		switch sub := &r.Subresources[i]; sub.Action {
		case Status:
			sub.ValidateUpdate = h.compare(k.Status)
		case Part:
			sub.ValidateUpdate = h.compare(k.Parts[sub.Name])
		}
	}
}

// preparing sets what the strategy and the subresources keep from clients and warn them of.
func preparing(r *Resource, h hub) {
	k := prepare.For(r.GroupVersionKind().GroupKind())
	s := &r.Strategy
	s.OwnStatus = k.OwnStatus
	s.PrepareCreate, s.PrepareUpdate = h.change(k.Create), h.update(k.Update)
	s.Warnings = h.warn(k.Warnings)
	if k.Early != nil {
		s.EarlyWarnings = func(obj runtime.Object) []string { return k.Early(h.see(obj)) }
	}
	r.Subresources = slices.Clone(r.Subresources) // entries share them
	for i := range r.Subresources {
		switch sub := &r.Subresources[i]; sub.Action {
		case Status:
			sub.PrepareUpdate, sub.Warnings = h.update(k.Status), h.warn(k.StatusWarnings)
		case Part:
			sub.PrepareUpdate = h.update(k.Parts[sub.Name])
		}
	}
}

// hub is the version of a kind that hooks are written for: the stored version where that is
// served itself, else the served one. Hooks get objects of either, and change them in place.
type hub struct {
	to, from func(runtime.Object) (runtime.Object, error)
}

func hubOf(r *Resource, served map[schema.GroupVersionKind]bool) hub {
	switch {
	case r.FromStored == nil:
		return hub{}
	case served[r.Stored]:
		return hub{to: r.ToStored, from: r.FromStored}
	}
	return hub{to: r.FromStored, from: r.ToStored}
}

// see returns obj in the hub's version; obj itself if it is.
func (h hub) see(obj runtime.Object) runtime.Object {
	if h.to == nil || obj == nil {
		return obj
	}
	return must(h.to(obj))
}

// put writes what became of see(obj) back.
func (h hub) put(obj, seen runtime.Object) {
	if obj == seen {
		return
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(must(h.from(seen))).Elem())
	obj.GetObjectKind().SetGroupVersionKind(gvk)
}

// must: a hook is only ever given objects of the two versions of its kind, which convert.
func must(obj runtime.Object, err error) runtime.Object {
	if err != nil {
		panic(fmt.Sprintf("resources: a hook was given what it is not for: %v", err))
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

// update adapts a hook that changes an object by what is stored.
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

// warn adapts a hook that only looks; old may be nil.
func (h hub) warn(f func(obj, old runtime.Object) []string) func(obj, old runtime.Object) []string {
	if f == nil || h.to == nil {
		return f
	}
	return func(obj, old runtime.Object) []string { return f(h.see(obj), h.see(old)) }
}

// judge and compare adapt hooks that find faults.
func (h hub) judge(f func(runtime.Object) field.ErrorList) func(runtime.Object) field.ErrorList {
	if f == nil || h.to == nil {
		return f
	}
	return func(obj runtime.Object) field.ErrorList { return f(h.see(obj)) }
}

func (h hub) compare(f func(obj, old runtime.Object) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	if f == nil || h.to == nil {
		return f
	}
	return func(obj, old runtime.Object) field.ErrorList { return f(h.see(obj), h.see(old)) }
}

// both runs two hooks, either of which may be nil.
func both(f, g func(runtime.Object)) func(runtime.Object) {
	switch {
	case f == nil:
		return g
	case g == nil:
		return f
	}
	return func(obj runtime.Object) { f(obj); g(obj) }
}

// defaulting fills in an object by the defaults of its own version; the stored version may have
// none but by way of the served one.
func defaulting(r *Resource, h hub) func(runtime.Object) {
	own := defaults.For(r.GroupVersionKind())
	if r.FromStored == nil {
		return own
	}
	stored := defaults.For(r.Stored)
	if stored == nil {
		return h.change(own)
	}
	if own == nil {
		own = func(runtime.Object) {}
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

// printing is the kind's table, or the one of kinds without.
func printing(r *Resource, h hub) Table {
	return printed(r.GroupVersionKind().GroupKind(), h.see)
}

// TableOf is the table of a built-in kind that is no resource of its own, such as Scale, or the one of
// kinds without.
func TableOf(gk schema.GroupKind) Table {
	return printed(gk, func(obj runtime.Object) runtime.Object { return obj })
}

// printed is the table of objects that are printed as see returns them.
func printed(gk schema.GroupKind, see func(runtime.Object) runtime.Object) Table {
	p, ok := printers.For(gk)
	if !ok {
		p = printers.Default()
	}
	t := Table{Cells: func(obj runtime.Object, now time.Time) []any { return p.Cells(see(obj), now) }}
	for _, c := range p.Columns {
		t.Columns = append(t.Columns, Column(c))
	}
	if p.Conditions != nil {
		t.Conditions = func(obj runtime.Object) []metav1.TableRowCondition { return p.Conditions(see(obj)) }
	}
	if p.Compare != nil {
		t.Compare = func(a, b runtime.Object) int { return p.Compare(see(a), see(b)) }
	}
	return t
}
