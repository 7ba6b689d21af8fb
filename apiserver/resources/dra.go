package resources

import resourcev1 "k8s.io/api/resource/v1"

// dynamicResources is the group resource.k8s.io.
func dynamicResources() []*Resource {
	bySpec := Strategy{Generation: SpecGeneration}
	returned := Deletion{Returned: true}
	return group(resourcev1.SchemeGroupVersion,
		&Resource{Plural: "deviceclasses", New: of[resourcev1.DeviceClass], Strategy: bySpec, Delete: returned},
		&Resource{Plural: "resourceclaims", New: of[resourcev1.ResourceClaim], Namespaced: true, Delete: returned, Subresources: withStatus},
		&Resource{Plural: "resourceclaimtemplates", New: of[resourcev1.ResourceClaimTemplate], Namespaced: true, Delete: returned},
		&Resource{Plural: "resourceslices", New: of[resourcev1.ResourceSlice], Strategy: bySpec, Delete: returned},
	)
}
