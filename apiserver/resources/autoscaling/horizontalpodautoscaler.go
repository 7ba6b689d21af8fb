package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// horizontalPodAutoscalers is the entry of HorizontalPodAutoscaler.
func horizontalPodAutoscalers() *entry.Resource {
	return &entry.Resource{
		Plural: "horizontalpodautoscalers", New: entry.New[autoscalingv2.HorizontalPodAutoscaler], Namespaced: true,
		ShortNames: []string{"hpa"}, Categories: entry.All,
		Strategy: entry.Strategy{
			Generation:     entry.SpecGeneration, // HPAGeneration is on (V-011)
			Default:        withoutHPAAnnotations(entry.Default(defaultHorizontalPodAutoscaler)),
			Validate:       entry.Validate(validateAutoscaler),
			ValidateUpdate: entry.ValidateChange(validateAutoscalerUpdate),
		},
		Subresources: []entry.Subresource{
			entry.StatusWith(entry.Subresource{
				ValidateUpdate: entry.ValidateChange(validateAutoscalerStatus),
			}),
		},
		Table: entry.TableOf(autoscalerColumns(), autoscalerCells),
	}
}

// horizontalPodAutoscalersV1 is the entry of HorizontalPodAutoscaler in version v1. Its hooks get v2, except for
// defaults.
func horizontalPodAutoscalersV1() *entry.Resource {
	return &entry.Resource{
		Plural: "horizontalpodautoscalers", New: entry.New[autoscalingv1.HorizontalPodAutoscaler], Namespaced: true,
		ShortNames: []string{"hpa"}, Categories: entry.All,
		Storage: entry.Storage{
			Stored: autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler"), ToStored: hpaToV2,
			FromStored: hpaFromV2,
		},
		Strategy: entry.Strategy{
			Generation:     entry.SpecGeneration, // HPAGeneration is on (V-011)
			Default:        withoutHPAAnnotations(entry.Default(defaultHorizontalPodAutoscalerV1)),
			DefaultStored:  withoutHPAAnnotations(entry.Default(defaultHorizontalPodAutoscaler)),
			Validate:       entry.Validate(validateAutoscaler),
			ValidateUpdate: entry.ValidateChange(validateAutoscalerUpdate),
		},
		Subresources: []entry.Subresource{
			entry.StatusWith(entry.Subresource{
				ValidateUpdate: entry.ValidateChange(validateAutoscalerStatus),
			}),
		},
		Table: entry.TableOf(autoscalerColumns(), autoscalerCells),
	}
}

// withoutHPAAnnotations sets the defaults of an object and then removes the annotations of conversions.
func withoutHPAAnnotations(hook func(runtime.Object)) func(runtime.Object) {
	return func(obj runtime.Object) {
		hook(obj)
		dropHPAAnnotations(obj)
	}
}
