package networking

import (
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	declared "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/networking"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Declared(declared.RegisterValidations, nil, entry.Group(networkingv1.SchemeGroupVersion,
		ingressClasses(),
		ingresses(),
		ipAddresses(),
		networkPolicies(),
		serviceCIDRs(),
	))
}
