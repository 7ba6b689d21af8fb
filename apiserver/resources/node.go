package resources

import nodev1 "k8s.io/api/node/v1"

func node() []*Resource {
	return group(nodev1.SchemeGroupVersion,
		&Resource{Plural: "runtimeclasses", New: of[nodev1.RuntimeClass], Strategy: Strategy{CreateOnUpdate: true, Conditional: true}},
	)
}
