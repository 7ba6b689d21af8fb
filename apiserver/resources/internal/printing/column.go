package printing

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Columns of several groups, and the descriptions of metadata by the JSON names of its fields.
var (
	MetaDocs = metav1.ObjectMeta{}.SwaggerDoc()

	NameColumn       = entry.Column{Name: "Name", Type: "string", Format: "name", Description: MetaDocs["name"]}
	AgeColumn        = Text("Age", MetaDocs["creationTimestamp"])
	ContainersColumn = Text("Containers", "Names of each container in the template.")
	ImagesColumn     = Text("Images", "Images referenced by each container in the template.")
)

// Text is a column of strings.
func Text(name, description string) entry.Column {
	return entry.Column{Name: name, Type: "string", Description: description}
}

// Integer is a column of numbers.
func Integer(name, description string) entry.Column {
	return entry.Column{Name: name, Type: "integer", Description: description}
}

// Boolean is a column of booleans.
func Boolean(name, description string) entry.Column {
	return entry.Column{Name: name, Type: "boolean", Description: description}
}

// Wide makes a column visible only with -o wide.
func Wide(c entry.Column) entry.Column {
	c.Priority = 1
	return c
}

// NameAndAge are the columns of kinds without others.
func NameAndAge() []entry.Column { return []entry.Column{NameColumn, AgeColumn} }
