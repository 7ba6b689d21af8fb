package apps

import (
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources(gates entry.Gates) []*entry.Resource {
	return entry.Declared(RegisterValidations, nil, entry.Group(appsv1.SchemeGroupVersion,
		controllerRevisions(),
		daemonSets(),
		deployments(),
		replicaSets(),
		statefulSets(gates),
	))
}
