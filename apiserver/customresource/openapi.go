package customresource

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	openapiv2 "k8s.io/apiextensions-apiserver/pkg/controller/openapi/v2"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// openAPI returns the version's schema for OpenAPI documents (AX pkg/controller/openapi/builder). It has the defaults
// of the CRD.
func (v *version) openAPI(v2 bool) (*spec.Schema, error) {
	if v2 && v.keepsUnknown {
		return nil, nil
	}
	in, err := v.internalSchema()
	if err != nil {
		return nil, err
	}
	s, err := schema.NewStructural(in)
	if err != nil {
		return nil, err
	}
	if v2 {
		s = openapiv2.ToStructuralOpenAPIV2(s)
	}
	return s.ToKubeOpenAPI(), nil
}
