package resources

import discoveryv1 "k8s.io/api/discovery/v1"

func discovery() []*Resource {
	return group(discoveryv1.SchemeGroupVersion,
		&Resource{Plural: "endpointslices", New: of[discoveryv1.EndpointSlice], Namespaced: true,
			Strategy: Strategy{Generation: AnyButMetaOrLabels}},
	)
}
