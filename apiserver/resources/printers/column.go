package printers

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Column is a column's definition, as in a Table's columnDefinitions.
type Column struct {
	Name, Type string
	// Format is "name" for the column that names the object, else empty.
	Format, Description string
	// Priority is 0 for columns that always show and 1 for those of -o wide.
	Priority int32
}

var (
	objectMeta = metav1.ObjectMeta{}.SwaggerDoc()

	nameColumn       = Column{Name: "Name", Type: "string", Format: "name", Description: objectMeta["name"]}
	ageColumn        = text("Age", objectMeta["creationTimestamp"])
	containersColumn = text("Containers", "Names of each container in the template.")
	imagesColumn     = text("Images", "Images referenced by each container in the template.")
)

func text(name, description string) Column {
	return Column{Name: name, Type: "string", Description: description}
}

func integer(name, description string) Column {
	return Column{Name: name, Type: "integer", Description: description}
}

func boolean(name, description string) Column {
	return Column{Name: name, Type: "boolean", Description: description}
}

func wide(c Column) Column {
	c.Priority = 1
	return c
}

func nameAndAge() []Column { return []Column{nameColumn, ageColumn} }
