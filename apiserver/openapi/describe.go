package openapi

import (
	"reflect"
	"strings"

	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// documented is implemented by types with generated documentation. The key "" is the description of the type. Other
// keys are JSON names of fields.
type documented interface{ SwaggerDoc() map[string]string }

// intOrStringText is the description of the only type whose module has none except a comment.
const intOrStringText = "An integer or a string: a port's number or its name, a count or a percentage."

// description has the descriptions of a struct and of its own fields.
type description struct {
	text   string
	fields map[string]string
	// complete reports whether the descriptions of enums already list their values.
	complete bool
}

// describe returns a type's own documentation. A type of a module without SwaggerDoc methods has its documentation in
// the definitions that apiextensions-apiserver generates for its own types and those of apimachinery.
func (d *definitions) describe(t reflect.Type) description {
	if d.bare {
		return description{complete: true}
	}
	if docs := swaggerDoc(t); docs != nil {
		return description{text: docs[""], fields: docs}
	}
	name := modelName(t)
	if name == "io.k8s.apimachinery.pkg.util.intstr.IntOrString" {
		return description{text: intOrStringText}
	}
	s := d.documentation()[name].Schema
	fields := map[string]string{}
	for field, p := range s.Properties {
		fields[field] = p.Description
	}
	return description{text: s.Description, fields: fields, complete: true}
}

// generatedDefinitions returns apiextensions-apiserver's definitions. It needs no cache, as it takes less than 1 ms.
func generatedDefinitions() map[string]common.OpenAPIDefinition {
	return generated.GetOpenAPIDefinitions(func(string) spec.Ref { return spec.Ref{} })
}

// swaggerDoc returns the documentation of a type. It ignores that of an embedded struct.
func swaggerDoc(t reflect.Type) map[string]string {
	d, ok := zero[documented](t)
	if !ok {
		return nil
	}
	docs := d.SwaggerDoc()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.Anonymous || f.Type.Kind() != reflect.Struct {
			continue
		}
		if inner, ok := zero[documented](f.Type); ok &&
			reflect.ValueOf(inner.SwaggerDoc()).Pointer() == reflect.ValueOf(docs).Pointer() {
			return nil
		}
	}
	return docs
}

// describeEnum adds the values of an enum to a field's description, as Kubernetes does.
func describeEnum(text string, values []string) string {
	if len(values) == 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(text)
	b.WriteString("\n\nPossible enum values:")
	for _, v := range values {
		b.WriteString("\n - `\"" + v + "\"`")
	}
	return strings.TrimSpace(b.String())
}
