package networking

import (
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(RegisterValidations, nil, entry.Group(networkingv1.SchemeGroupVersion,
		ingressClasses(),
		ingresses(),
		ipAddresses(),
		networkPolicies(),
		serviceCIDRs(),
	))
}
