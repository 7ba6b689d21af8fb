package usage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Total returns a quota's usage by the objects of a namespace, for each name in spec.hard that a resource counts for.
// objects has the objects of the namespace, by resource, for all resources of Counted that are served. Names that
// nothing counts for are omitted (CalculateUsage).
func Total(q *corev1.ResourceQuotaSpec, objects map[schema.GroupResource][]runtime.Object,
	now time.Time) corev1.ResourceList {
	out := corev1.ResourceList{}
	named := Names(q.Hard)
	for _, r := range Counted(named) {
		list, served := objects[r]
		if !served {
			continue
		}
		k := kindOf(r)
		used := corev1.ResourceList{}
		for _, name := range k.of(named) {
			used[name] = number(0)
		}
		for _, obj := range list {
			if k.within(q, obj) {
				add(used, Only(k.usage(obj, now), named))
			}
		}
		add(out, used)
	}
	return out
}
