package usage

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Total is what the objects of a namespace use of a quota: for each name in spec.hard that some resource
// of objects counts for. objects are those of the namespace by resource; those of Counted must be there,
// unless no such resource is served. A name that nothing counts for is left out (CalculateUsage).
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
				add(used, only(k.usage(obj, now), named))
			}
		}
		add(out, used)
	}
	return out
}
