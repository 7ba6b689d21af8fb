package storage

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// localSchemeBuilder is what the generated code registers itself with.
var localSchemeBuilder runtime.SchemeBuilder

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(RegisterValidations, nil, entry.Group(storagev1.SchemeGroupVersion,
		csiDrivers(),
		csiNodes(),
		csiStorageCapacities(),
		storageClasses(),
		volumeAttachments(),
		volumeAttributesClasses(),
	))
}
