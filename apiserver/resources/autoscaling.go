package resources

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

func autoscaling() []*Resource {
	drop := Strategy{Default: dropHPAAnnotations}
	v2 := group(autoscalingv2.SchemeGroupVersion,
		&Resource{Plural: "horizontalpodautoscalers", New: of[autoscalingv2.HorizontalPodAutoscaler], Namespaced: true,
			ShortNames: []string{"hpa"}, Categories: inAll, Strategy: drop, Subresources: withStatus},
	)
	v1 := group(autoscalingv1.SchemeGroupVersion,
		&Resource{Plural: "horizontalpodautoscalers", New: of[autoscalingv1.HorizontalPodAutoscaler], Namespaced: true,
			ShortNames: []string{"hpa"}, Categories: inAll, Strategy: drop, Subresources: withStatus,
			Stored:   v2[0].Stored,
			ToStored: hpaToV2, FromStored: hpaFromV2},
	)
	return append(v2, v1...)
}
