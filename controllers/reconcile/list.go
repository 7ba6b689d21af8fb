package reconcile

import (
	"cmp"
	"slices"
)

// List is a list of limited length.
type List[T any] struct {
	Items []T
	// Omitted is the number of entries that the list lacks.
	Omitted int
}

// add adds items and the number of omitted ones. It keeps at most most items, the first in the order.
func (l *List[T]) add(items []T, omitted, most int, order func(a, b T) int) {
	l.Items = append(l.Items, items...)
	l.Omitted += omitted
	slices.SortStableFunc(l.Items, order)
	if more := len(l.Items) - most; more > 0 {
		l.Items = slices.Delete(l.Items, most, len(l.Items))
		l.Omitted += more
	}
}

func earlier(a, b Wait) int {
	return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Controller, b.Controller), a.Object.compare(b.Object))
}

func alphabetic(a, b Work) int {
	return cmp.Or(cmp.Compare(a.Controller, b.Controller), a.Object.compare(b.Object), cmp.Compare(a.What, b.What))
}

func (o Object) compare(p Object) int {
	return cmp.Or(cmp.Compare(o.Kind, p.Kind), cmp.Compare(o.Namespace, p.Namespace), cmp.Compare(o.Name, p.Name))
}

// Namespace names a namespace.
func Namespace(name string) Object {
	return Object{Version: "v1", Resource: "namespaces", Kind: "Namespace", Name: name}
}
