package customresource

import (
	"fmt"
	"sync"

	apiextensionsinternal "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// version is one version of a CustomResourceDefinition.
type version struct {
	apiextensionsv1.CustomResourceDefinitionVersion
	apiVersion, kind string
	// keepsUnknown reports whether objects keep unknown fields (spec.preserveUnknownFields of v1beta1).
	keepsUnknown bool

	// schema returns a new copy of the schema, or nil if there is none. The embedded field Schema is nil.
	schema func() (*apiextensionsv1.CustomResourceValidation, error)
	// rules returns the compiled schema. The first call compiles it.
	rules func() (*rules, error)
}

// rules is the compiled schema of a version.
type rules struct {
	structural *schema.Structural
	defaults   *defaults
	cost       *cost
	// object validates an object, and status validates its field status.
	object, status validation.SchemaValidator
	// expressions evaluates the x-kubernetes-validations. It is nil if there are none.
	expressions *cel.Validator
}

func newVersion(d *apiextensionsv1.CustomResourceDefinition, i int, schema schemas) *version {
	v := d.Spec.Versions[i]
	v.Schema = nil
	n := &version{
		CustomResourceDefinitionVersion: v, apiVersion: d.Spec.Group + "/" + v.Name, kind: d.Spec.Names.Kind,
		keepsUnknown: d.Spec.PreserveUnknownFields,
	}
	n.rules = sync.OnceValues(n.compile)
	n.schema = func() (*apiextensionsv1.CustomResourceValidation, error) { return schema(i) }
	return n
}

// compile compiles the schema of the version.
func (v *version) compile() (*rules, error) {
	in, err := v.internalSchema()
	if err != nil {
		return nil, fmt.Errorf("compiling the schema of %s, %s: %w", v.apiVersion, v.kind, err)
	}
	r := &rules{}
	if r.structural, err = schema.NewStructural(in); err == nil {
		err = defaulting.PruneDefaults(r.structural)
	}
	if err != nil {
		return nil, fmt.Errorf("compiling the schema of %s, %s: %w", v.apiVersion, v.kind, err)
	}
	r.defaults, r.cost = defaultsOf(r.structural), costOf(r.structural, nil)
	if r.object, err = newSchemaValidator(in); err != nil {
		return nil, fmt.Errorf("compiling the schema of %s, %s: %w", v.apiVersion, v.kind, err)
	}
	var status *apiextensionsinternal.JSONSchemaProps
	if p, ok := in.Properties["status"]; ok {
		status = &p
	}
	if r.status, err = newSchemaValidator(status); err != nil {
		return nil, fmt.Errorf("compiling the schema of %s, %s: %w", v.apiVersion, v.kind, err)
	}
	r.expressions = cel.NewValidator(r.structural, true, celconfig.PerCallLimit)
	return r, nil
}

// internalSchema returns the schema in the internal type. If there is none, it returns one that permits all fields.
func (v *version) internalSchema() (*apiextensionsinternal.JSONSchemaProps, error) {
	out := &apiextensionsinternal.CustomResourceValidation{}
	s, err := v.schema()
	if err != nil {
		return nil, err
	}
	if s != nil {
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(
			s, out, nil,
		); err != nil {
			return nil, err
		}
	}
	if out.OpenAPIV3Schema == nil {
		out.OpenAPIV3Schema = &apiextensionsinternal.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	}
	return out.OpenAPIV3Schema, nil
}
