package dra

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one on each line.
func Resources(clock entry.Clock) []*entry.Resource {
	gates := map[string]bool{"DRAPartitionableDevicesType": false} // the gates that validation rules name
	return entry.Declared(RegisterValidations, gates, entry.Group(resourcev1.SchemeGroupVersion,
		deviceClasses(),
		deviceTaintRules(clock),
		resourceClaims(),
		resourceClaimTemplates(),
		resourceSlices(clock),
	))
}
