package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return append(
		entry.Group(autoscalingv2.SchemeGroupVersion,
			horizontalPodAutoscalers(),
		),
		entry.Group(autoscalingv1.SchemeGroupVersion,
			horizontalPodAutoscalersV1(),
		)...,
	)
}
