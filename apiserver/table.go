package apiserver

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/storage"
)

// table prints objects for kubectl get. header is false for all but the first event of a watch.
func (x *rendering) table(objs []*storage.Object, m metav1.ListMeta, header bool) (*metav1.Table, error) {
	t := &metav1.Table{TypeMeta: x.metaType("Table"), ListMeta: m, Rows: make([]metav1.TableRow, 0, len(objs))}
	if header {
		t.ColumnDefinitions = x.columns()
	}
	for _, o := range objs {
		row, err := x.row(o)
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

func (x *rendering) columns() []metav1.TableColumnDefinition {
	cols := make([]metav1.TableColumnDefinition, 0, len(x.res.Table.Columns))
	for _, c := range x.res.Table.Columns {
		cols = append(cols, metav1.TableColumnDefinition{Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority})
	}
	return cols
}

func (x *rendering) row(o *storage.Object) (metav1.TableRow, error) {
	obj, err := decodeStored(x.res, o.JSON)
	if err != nil {
		return metav1.TableRow{}, fmt.Errorf("%w: %s: %v", storage.ErrCorrupt, o.Key, err)
	}
	row := metav1.TableRow{Cells: x.res.Table.Cells(obj, x.now)}
	switch metav1.IncludeObjectPolicy(x.include) {
	case metav1.IncludeNone:
	case metav1.IncludeObject:
		y := *x
		y.f = format{media: mediaJSON}
		row.Object.Raw, err = y.object(o)
	default:
		var meta *metav1.PartialObjectMetadata
		if meta, err = x.metadata(o); err == nil {
			row.Object.Raw, err = json.Marshal(meta)
		}
	}
	return row, err
}
