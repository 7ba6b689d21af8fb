package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	declaredv1 "github.com/kubecascade/kubecascade/apiserver/resources/internal/declared/autoscaling"
)

// declared has the validation rules of both versions, because hooks receive objects of both.
var declared = runtime.NewSchemeBuilder(declaredv1.RegisterValidations, RegisterValidations)

// Resources returns the entries of the group's kinds, one in each line.
func Resources(gates entry.Gates) []*entry.Resource {
	options := gates.Only("HPAScaleToZero") // the gates that validation rules name (V-061)
	return append(
		entry.Declared(declared.AddToScheme, options, entry.Group(autoscalingv2.SchemeGroupVersion,
			horizontalPodAutoscalers(),
		)),
		entry.Declared(declared.AddToScheme, options, entry.Group(autoscalingv1.SchemeGroupVersion,
			horizontalPodAutoscalersV1(),
		))...,
	)
}

// ScaleTable returns the table of Scale, the kind of scale subresources. Unlike in other tables, the column Name has no
// format.
func ScaleTable() entry.Table {
	return entry.Printed([]entry.Column{
		entry.Text("Name", entry.MetaDocs["name"]),
		entry.Integer("Desired", autoscalingv1.ScaleSpec{}.SwaggerDoc()["replicas"]),
		entry.Integer("Available", autoscalingv1.ScaleStatus{}.SwaggerDoc()["replicas"]),
		entry.AgeColumn,
	}, func(s *autoscalingv1.Scale) []any {
		return []any{s.Name, int64(s.Spec.Replicas), int64(s.Status.Replicas)}
	})
}
