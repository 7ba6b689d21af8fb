package namespace

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// order returns the types in the order of a pass: first the pods (E-09), then the others by group, version and name.
func order(rs []Resource) (first, rest []Resource) {
	for _, r := range rs {
		if r.GroupResource() == pods {
			first = append(first, r)
		} else {
			rest = append(rest, r)
		}
	}
	slices.SortFunc(rest, func(a, b Resource) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Version, b.Version),
			strings.Compare(a.Resource, b.Resource))
	})
	return first, rest
}

// letGo returns the entries of spec.finalizers that remain when the content is gone, sorted, each once. ok is false if
// this controller's entry is missing, so that nothing has to be written (E-08).
func letGo(fs []corev1.FinalizerName) (stay []corev1.FinalizerName, ok bool) {
	if !slices.Contains(fs, corev1.FinalizerKubernetes) {
		return fs, false
	}
	stay = slices.DeleteFunc(slices.Clone(fs), func(f corev1.FinalizerName) bool {
		return f == corev1.FinalizerKubernetes
	})
	slices.Sort(stay)
	return slices.Compact(stay), true
}
