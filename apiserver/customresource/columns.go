package customresource

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// table returns the columns of the CRD or, if it has none, the age (AX pkg/registry/customresource/tableconvertor).
func table(columns []apiextensionsv1.CustomResourceColumnDefinition) resources.Table {
	if len(columns) == 0 {
		columns = []apiextensionsv1.CustomResourceColumnDefinition{{
			Name: "Age", Type: "date", JSONPath: ".metadata.creationTimestamp",
			Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"]}}
	}
	t := resources.Table{Columns: []resources.Column{
		{Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"]},
	}}
	for _, c := range columns {
		text := cmp.Or(c.Description, "Custom resource definition column (in JSONPath format): "+c.JSONPath)
		t.Columns = append(
			t.Columns, resources.Column{Name: c.Name, Type: c.Type, Format: c.Format, Description: text, Priority: c.Priority},
		)
	}
	t.Cells = func(obj runtime.Object, now time.Time) []any {
		u := obj.(*unstructured.Unstructured)
		cells := []any{u.GetName()}
		for _, c := range columns {
			cells = append(cells, cell(c, u.Object, now))
		}
		return cells
	}
	return t
}

// cell returns the value at the column's path, in the format of the column's type. It is nil if the value is absent or
// has another type.
func cell(c apiextensionsv1.CustomResourceColumnDefinition, content map[string]any, now time.Time) any {
	path := jsonpath.New(c.Name).AllowMissingKeys(true)
	if path.Parse("{"+c.JSONPath+"}") != nil {
		return nil
	}
	found, err := path.FindResults(content)
	if err != nil || len(found) == 0 || len(found[0]) == 0 {
		return nil
	}
	value := found[0][0].Interface()
	if c.Type == "string" {
		var text bytes.Buffer
		if path.PrintResults(&text, []reflect.Value{reflect.ValueOf(value)}) != nil {
			return nil
		}
		return text.String()
	}
	return typedCell(c.Type, value, now)
}

func typedCell(typ string, value any, now time.Time) any {
	switch typ {
	case "integer":
		switch n := value.(type) {
		case int64:
			return n
		case float64:
			return int64(n)
		case json.Number:
			if i, err := n.Int64(); err == nil {
				return i
			}
		}
	case "number":
		switch n := value.(type) {
		case int64:
			return float64(n)
		case float64:
			return n
		case json.Number:
			if f, err := n.Float64(); err == nil {
				return f
			}
		}
	case "boolean":
		if b, ok := value.(bool); ok {
			return b
		}
	case "date":
		if text, ok := value.(string); ok {
			return age(text, now)
		}
	}
	return nil
}

func age(text string, now time.Time) string {
	var t metav1.Time
	if err := t.UnmarshalQueryParameter(text); err != nil {
		return "<invalid>"
	}
	if t.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(t.Time))
}

// selectable sets the fields that field selectors can select by.
func selectable(r *resources.Resource, declared []apiextensionsv1.SelectableField) {
	for _, f := range declared {
		path := fmt.Sprint(f.JSONPath)
		for len(path) > 0 && path[0] == '.' {
			path = path[1:]
		}
		r.FieldNames = append(r.FieldNames, path)
		r.Fields = append(r.Fields, storage.FieldPath{Paths: []string{path}})
	}
}
