package render

import (
	"encoding/json"
	"fmt"
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/storage"
)

// Table returns the objects as a Table. header is false for all events of a watch except the first.
func (x *Rendering) Table(objs []*storage.Object, m metav1.ListMeta, header bool) (*metav1.Table, error) {
	t, _, err := x.table(objs, m, header)
	return t, err
}

// listTable returns the Table of a list. It marks the default among the objects.
func (x *Rendering) listTable(objs []*storage.Object, m metav1.ListMeta) (*metav1.Table, error) {
	t, shown, err := x.table(objs, m, true)
	if f := x.Resource.Table.Default; f != nil && err == nil {
		if i := f(shown); i >= 0 {
			t.Rows[i].Cells[0] = fmt.Sprint(t.Rows[i].Cells[0], " (default)")
		}
	}
	return t, err
}

// table returns the Table, and the objects of its rows if they depend on each other.
func (x *Rendering) table(
	objs []*storage.Object, m metav1.ListMeta, header bool,
) (t *metav1.Table, shown []runtime.Object, err error) {
	t = &metav1.Table{TypeMeta: x.metaType("Table"), ListMeta: m, Rows: make([]metav1.TableRow, 0, len(objs))}
	if header {
		t.ColumnDefinitions = x.columns()
	}
	compare := x.Resource.Table.Compare
	for _, o := range objs {
		obj, err := x.shown(o)
		if err != nil {
			return nil, nil, err
		}
		if x.together() {
			shown = append(shown, obj)
		}
		row, err := x.row(o, obj)
		if err != nil {
			return nil, nil, err
		}
		t.Rows = append(t.Rows, row)
	}
	if compare != nil {
		sort.Stable(&rows{t.Rows, shown, compare})
	}
	return t, shown, nil
}

// together reports whether the rows of a Table depend on each other.
func (x *Rendering) together() bool {
	return x.Resource.Table.Compare != nil || x.Resource.Table.Default != nil
}

// shown returns the object for the cells. A custom resource is in the served version, which has the columns.
func (x *Rendering) shown(o *storage.Object) (runtime.Object, error) {
	if x.Resource.Custom {
		return x.served(o)
	}
	return codec.DecodeReadable(x.Resource, o)
}

// rows sorts a table by its objects.
type rows struct {
	rows    []metav1.TableRow
	objects []runtime.Object
	compare func(a, b runtime.Object) int
}

func (r *rows) Len() int { return len(r.rows) }

func (r *rows) Less(i, j int) bool { return r.compare(r.objects[i], r.objects[j]) < 0 }

func (r *rows) Swap(i, j int) {
	r.rows[i], r.rows[j] = r.rows[j], r.rows[i]
	r.objects[i], r.objects[j] = r.objects[j], r.objects[i]
}

func (x *Rendering) columns() []metav1.TableColumnDefinition {
	cols := make([]metav1.TableColumnDefinition, 0, len(x.Resource.Table.Columns))
	for _, c := range x.Resource.Table.Columns {
		cols = append(cols, metav1.TableColumnDefinition{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority})
	}
	return cols
}

func (x *Rendering) row(o *storage.Object, obj runtime.Object) (row metav1.TableRow, err error) {
	row.Cells = x.Resource.Table.Cells(obj, x.Now)
	if c := x.Resource.Table.Conditions; c != nil {
		row.Conditions = c(obj)
	}
	switch metav1.IncludeObjectPolicy(x.Include) {
	case metav1.IncludeNone:
	case metav1.IncludeObject:
		y := *x
		y.Format = Format{Media: codec.MediaJSON}
		row.Object.Raw, err = y.Object(o)
	default:
		if !x.Resource.Custom {
			row.Object.Raw = x.partialObject(o)
		}
		if row.Object.Raw == nil {
			var meta *metav1.PartialObjectMetadata
			if meta, err = x.metadata(o); err != nil {
				return row, err
			}
			row.Object.Raw, err = json.Marshal(meta)
		}
	}
	return row, err
}
