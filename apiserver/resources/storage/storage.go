package storage

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	declared "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/storage"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(declared.RegisterValidations, nil, entry.Group(storagev1.SchemeGroupVersion,
		csiDrivers(),
		csiNodes(),
		csiStorageCapacities(),
		storageClasses(),
		volumeAttachments(),
		volumeAttributesClasses(),
	))
}
