package customresource

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	openapiv2 "k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// openAPI returns the version's schema for OpenAPI documents (AX pkg/controller/openapi/builder). Defaults are as in
// the definition.
func (v *version) openAPI() (v3, v2 *spec.Schema, err error) {
	in, err := v.internalSchema()
	if err != nil {
		return nil, nil, err
	}
	s, err := schema.NewStructural(in)
	if err != nil {
		return nil, nil, err
	}
	v3 = s.ToKubeOpenAPI()
	if !v.whole {
		v2 = openapiv2.ToStructuralOpenAPIV2(s).ToKubeOpenAPI()
	}
	return v3, v2, nil
}
