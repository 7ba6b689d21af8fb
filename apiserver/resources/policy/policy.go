package policy

import (
	policyv1 "k8s.io/api/policy/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return entry.Group(policyv1.SchemeGroupVersion,
		podDisruptionBudgets(),
	)
}
