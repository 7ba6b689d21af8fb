package core

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	declared "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/core"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources(clock entry.Clock) []*entry.Resource {
	gates := map[string]bool{"InPlacePodVerticalScalingSchedulerPreemption": false} // the gates that validation rules name
	return entry.Declared(declared.RegisterValidations, gates, entry.Group(corev1.SchemeGroupVersion,
		bindings(),
		componentStatuses(),
		configMaps(),
		endpoints(),
		events(),
		limitRanges(),
		namespaces(),
		nodes(),
		persistentVolumeClaims(),
		persistentVolumes(clock),
		pods(),
		podTemplates(),
		replicationControllers(),
		resourceQuotas(),
		secrets(),
		serviceAccounts(),
		services(),
	))
}

// Events returns the entry of the group events.k8s.io, whose Events are stored as Events of the core group.
func Events() []*entry.Resource {
	return entry.Group(eventsv1.SchemeGroupVersion,
		groupedEvents(),
	)
}
