package resources

import storagev1 "k8s.io/api/storage/v1"

// storageGroup is the group storage.k8s.io.
func storageGroup() []*Resource {
	returned := Deletion{Returned: true}
	conditional := Strategy{Conditional: true}
	return group(storagev1.SchemeGroupVersion,
		&Resource{Plural: "csidrivers", New: of[storagev1.CSIDriver], Delete: returned,
			Strategy: Strategy{Generation: UpdateOnlyGeneration, Conditional: true}},
		&Resource{Plural: "csinodes", New: of[storagev1.CSINode], Delete: returned, Strategy: conditional},
		&Resource{Plural: "csistoragecapacities", New: of[storagev1.CSIStorageCapacity], Namespaced: true, Strategy: conditional},
		&Resource{Plural: "storageclasses", New: of[storagev1.StorageClass], ShortNames: []string{"sc"}, Delete: returned},
		&Resource{Plural: "volumeattachments", New: of[storagev1.VolumeAttachment], Delete: returned, Strategy: conditional,
			Subresources: withStatus},
		&Resource{Plural: "volumeattributesclasses", New: of[storagev1.VolumeAttributesClass], ShortNames: []string{"vac"}, Delete: returned},
	)
}
