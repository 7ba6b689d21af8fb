package usage

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// add adds b to a in place.
func add(a, b corev1.ResourceList) {
	for name, q := range b {
		sum := q.DeepCopy()
		if had, ok := a[name]; ok {
			sum = had.DeepCopy()
			sum.Add(q)
		}
		a[name] = sum
	}
}

// atLeast raises the values of a that are less than those of b.
func atLeast(a, b corev1.ResourceList) {
	for name, q := range b {
		if had, ok := a[name]; !ok || q.Cmp(had) > 0 {
			a[name] = q.DeepCopy()
		}
	}
}

// more returns the amounts by which a exceeds b, without names where it doesn't.
func more(a, b corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range a {
		rest := q.DeepCopy()
		rest.Sub(b[name])
		if rest.Sign() > 0 {
			out[name] = rest
		}
	}
	return out
}

// Only returns the part of a list with those names.
func Only(list corev1.ResourceList, named []corev1.ResourceName) corev1.ResourceList {
	out := corev1.ResourceList{}
	for _, name := range named {
		if q, ok := list[name]; ok {
			out[name] = q.DeepCopy()
		}
	}
	return out
}

// Same reports whether two lists have the same names with equal quantities.
func Same(a, b corev1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y resource.Quantity) bool { return x.Cmp(y) == 0 })
}

// Names returns the names in a list, sorted.
func Names(l corev1.ResourceList) []corev1.ResourceName { return slices.Sorted(maps.Keys(l)) }

// printed formats a list as "a=1,b=2".
func printed(l corev1.ResourceList) string {
	var parts []string
	for _, name := range Names(l) {
		q := l[name]
		parts = append(parts, string(name)+"="+q.String())
	}
	return strings.Join(parts, ",")
}

// joined formats names as "a,b", sorted.
func joined[T ~string](list []T) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, string(v))
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

// number returns a count as a quantity.
func number(n int64) resource.Quantity { return *resource.NewQuantity(n, resource.DecimalSI) }
