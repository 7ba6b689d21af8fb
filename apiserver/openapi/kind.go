package openapi

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// Schemas returns the name of an object's schema, that schema and all that it refers to, as v3
// has them but without descriptions: what server-side apply needs to know of a kind, in a
// twentieth of the time that a document takes. The schemas belong to the caller.
func Schemas(object runtime.Object) (name string, schemas map[string]*spec.Schema) {
	d := newDefinitions(v3)
	d.bare = true
	name = d.add(structOf(object))
	schemas = make(map[string]*spec.Schema, len(d.schemas))
	for n, definition := range d.schemas {
		schemas[n] = &definition.Schema
	}
	return name, schemas
}
