package render

import (
	"encoding/json"
	"fmt"
	"time"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// Other converts an object of another kind than the resource's, such as a Scale or a review, to the kind that Accept
// requests. It does not convert a Status (AS handlers/response.go: doTransformObject).
func (x *Rendering) Other(obj runtime.Object) (runtime.Object, error) {
	m, err := meta.Accessor(obj)
	if _, status := obj.(*metav1.Status); status || err != nil || x.Format.As == "" {
		return obj, nil
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("writing a %T: %w", obj, err)
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	y := *x
	y.Resource = &resources.Resource{
		Served:  resources.Served{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind},
		Storage: resources.Storage{Stored: gvk},
		Table:   resources.TableOf(gvk.GroupKind())}
	if x.Resource.Custom && gvk == resources.ScaleKind {
		y.Resource.Table = customScale
	}
	o := &storage.Object{JSON: data}
	switch x.Format.As {
	case "PartialObjectMetadata":
		return y.metadata(o)
	case "PartialObjectMetadataList":
		return nil, y.NoList()
	}
	row, err := y.row(o, obj)
	if err != nil {
		return nil, err
	}
	return &metav1.Table{TypeMeta: x.metaType("Table"), ListMeta: metav1.ListMeta{ResourceVersion: m.GetResourceVersion()},
		ColumnDefinitions: y.columns(), Rows: []metav1.TableRow{row}}, nil
}

// customScale are the columns of a custom resource's Scale. Unlike those of built-in types, a number that is missing in
// the JSON is null (AX pkg/apiserver/helpers.go: getScaleColumnsForVersion).
var customScale = func() resources.Table {
	docs := metav1.ObjectMeta{}.SwaggerDoc()
	built := resources.TableOf(resources.ScaleKind.GroupKind())
	return resources.Table{
		Columns: []resources.Column{
			{Name: "Name", Type: "string", Format: "name", Description: docs["name"]},
			{Name: "Desired", Type: "integer", Description: "Number of desired replicas"},
			{Name: "Available", Type: "integer", Description: "Number of actual replicas"},
			{Name: "Age", Type: "date", Description: docs["creationTimestamp"]},
		},
		Cells: func(obj runtime.Object, now time.Time) []any {
			cells := built.Cells(obj, now)
			if obj.(*autoscalingv1.Scale).Spec.Replicas == 0 {
				cells[1] = nil
			}
			return cells
		},
	}
}()
