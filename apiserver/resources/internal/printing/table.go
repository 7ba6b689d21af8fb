package printing

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Table makes a table from a function for a Go type.
func Table[T runtime.Object](columns []entry.Column, cells func(T, time.Time) []any) entry.Table {
	return entry.Table{
		Columns: columns,
		Cells:   func(obj runtime.Object, now time.Time) []any { return cells(As[T](obj), now) },
	}
}

// As returns an object as the type of its table. It panics for another type: the caller has looked up the table by the
// object's kind.
func As[T runtime.Object](obj runtime.Object) T {
	t, ok := obj.(T)
	if !ok {
		panic(fmt.Sprintf("printing: the table of %T was asked for the cells of a %T", t, obj))
	}
	return t
}

// Default is the table of kinds without their own: Name and Created At, which is a time in RFC 3339 and not an age
// (defaultTableConvertor). Objects must have metadata; one without has no cells.
func Default() entry.Table {
	return entry.Table{Columns: []entry.Column{NameColumn, CreatedColumn()}, Cells: defaultCells}
}

// CreatedColumn is the column of the creation's time, which is no age.
func CreatedColumn() entry.Column {
	return entry.Column{Name: "Created At", Type: "date", Description: MetaDocs["creationTimestamp"]}
}

func defaultCells(obj runtime.Object, _ time.Time) []any {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}
}
