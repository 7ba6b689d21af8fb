package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	declaredv1 "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/autoscaling"
	declaredv2 "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/autoscalingv2"
)

// declared are the rules of both versions: hooks get either.
var declared = runtime.NewSchemeBuilder(declaredv1.RegisterValidations, declaredv2.RegisterValidations)

// gates are the feature gates that rules name (V-061).
var gates = map[string]bool{"HPAScaleToZero": true}

// Resources returns the entries of the group's kinds, one in each line.
func Resources() []*entry.Resource {
	return append(
		entry.Declared(declared.AddToScheme, gates, entry.Group(autoscalingv2.SchemeGroupVersion,
			horizontalPodAutoscalers(),
		)),
		entry.Declared(declared.AddToScheme, gates, entry.Group(autoscalingv1.SchemeGroupVersion,
			horizontalPodAutoscalersV1(),
		))...,
	)
}
