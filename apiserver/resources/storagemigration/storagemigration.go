package storagemigration

import (
	storagemigrationv1 "k8s.io/api/storagemigration/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Group(storagemigrationv1.SchemeGroupVersion,
		storageVersionMigrations(),
	)
}
