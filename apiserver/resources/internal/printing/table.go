package printing

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Table makes a table of cells of one Go type.
func Table[T runtime.Object](columns []entry.Column, cells func(T, time.Time) []any) entry.Table {
	return entry.Table{
		Columns: columns,
		Cells:   func(obj runtime.Object, now time.Time) []any { return cells(As[T](obj), now) },
	}
}

// As returns an object as the type of its table. It panics on another one: the caller looked the table up by the kind
// of the object.
func As[T runtime.Object](obj runtime.Object) T {
	t, ok := obj.(T)
	if !ok {
		panic(fmt.Sprintf("printing: the table of %T was asked for the cells of a %T", t, obj))
	}
	return t
}

// Default is the table of kinds that have none of their own: Name and Created At, the latter in
// RFC 3339, not an age (defaultTableConvertor). Objects must have metadata; one without prints no
// cells.
func Default() entry.Table {
	created := entry.Column{Name: "Created At", Type: "date", Description: MetaDocs["creationTimestamp"]}
	return entry.Table{Columns: []entry.Column{NameColumn, created}, Cells: defaultCells}
}

func defaultCells(obj runtime.Object, _ time.Time) []any {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}
}
