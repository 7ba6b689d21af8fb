package entry

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Columns of several groups, and the descriptions of metadata by the JSON names of its fields.
var (
	MetaDocs = metav1.ObjectMeta{}.SwaggerDoc()

	NameColumn       = Column{Name: "Name", Type: "string", Format: "name", Description: MetaDocs["name"]}
	AgeColumn        = Text("Age", MetaDocs["creationTimestamp"])
	ContainersColumn = Text("Containers", "Names of each container in the template.")
	ImagesColumn     = Text("Images", "Images referenced by each container in the template.")
)

// Text returns a column of strings.
func Text(name, description string) Column {
	return Column{Name: name, Type: "string", Description: description}
}

// Integer returns a column of numbers.
func Integer(name, description string) Column {
	return Column{Name: name, Type: "integer", Description: description}
}

// Boolean returns a column of booleans.
func Boolean(name, description string) Column {
	return Column{Name: name, Type: "boolean", Description: description}
}

// Wide makes a column visible only with -o wide.
func Wide(c Column) Column {
	c.Priority = 1
	return c
}

// NameAndAge returns the table of kinds that have no other columns.
func NameAndAge[T Object]() Table { return Listed(nil, func(T) []any { return nil }) }

// TableOf returns a table. cells returns the cells of an object of the Go type T.
func TableOf[T runtime.Object](columns []Column, cells func(T, time.Time) []any) Table {
	return Table{
		Columns: columns,
		Cells:   func(obj runtime.Object, now time.Time) []any { return cells(As[T](obj), now) },
	}
}

// Printed returns a table. cells returns the cells of an object, except those of NameColumn and AgeColumn.
func Printed[T Object](columns []Column, cells func(T) []any) Table {
	return TableOf(columns, func(obj T, now time.Time) []any {
		row, others := make([]any, 0, len(columns)), cells(obj)
		for _, c := range columns {
			switch c {
			case NameColumn:
				row = append(row, obj.GetName())
			case AgeColumn:
				row = append(row, Age(obj.GetCreationTimestamp().Time, now))
			default:
				row, others = append(row, others[0]), others[1:]
			}
		}
		return row
	})
}

// Listed calls Printed with NameColumn before the columns, and AgeColumn after those that are always visible.
func Listed[T Object](columns []Column, cells func(T) []any) Table {
	wide := slices.IndexFunc(append(columns, Wide(AgeColumn)), func(c Column) bool { return c.Priority > 0 })
	return Printed(slices.Concat([]Column{NameColumn}, columns[:wide], []Column{AgeColumn}, columns[wide:]), cells)
}

// As returns an object as the Go type of its table. It panics for an object of another type: the caller must have found
// the table by the object's kind.
func As[T runtime.Object](obj runtime.Object) T {
	t, ok := obj.(T)
	if !ok {
		panic(fmt.Sprintf("entry: the table of %T received a %T", t, obj))
	}
	return t
}

// DefaultTable returns the table of kinds without their own table. Its columns are Name and Created At, which is a time
// in RFC 3339 (defaultTableConvertor). An object without metadata has no cells.
func DefaultTable() Table {
	return Table{Columns: []Column{NameColumn, CreatedColumn()}, Cells: defaultCells}
}

// CreatedColumn returns the column of the creation time. Unlike AgeColumn, it does not have an age.
func CreatedColumn() Column {
	return Column{Name: "Created At", Type: "date", Description: MetaDocs["creationTimestamp"]}
}

func defaultCells(obj runtime.Object, _ time.Time) []any {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}
}
