package autoscaling

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// ScaleTable is the table of Scale, the kind of scale subresources. Unlike elsewhere, the name has no format here.
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
