package apiregistration

import (
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources(clock entry.Clock) []*entry.Resource {
	return entry.Group(apiregistrationv1.SchemeGroupVersion,
		apiServices(clock),
	)
}
