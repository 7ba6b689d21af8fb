package resources

import coordinationv1 "k8s.io/api/coordination/v1"

func coordination() []*Resource {
	return group(coordinationv1.SchemeGroupVersion,
		&Resource{Plural: "leases", New: of[coordinationv1.Lease], Namespaced: true,
			Strategy: Strategy{CreateOnUpdate: true, Conditional: true, CustomMeta: true}},
	)
}
