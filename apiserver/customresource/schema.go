package customresource

import (
	"reflect"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/openapi"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// schemaValidator validates values by a schema. It returns the errors of apiextensions-apiserver's validator (AX
// pkg/apiserver/validation/ratcheting.go: RatchetingSchemaValidator), but at most as many as a response contains.
// Otherwise 100,000 invalid items would take hours, because the library compares each error with all earlier ones, at
// every level of the value.
//
// The limit does not apply below anyOf, allOf, oneOf and not, which the library validates itself.
type schemaValidator struct{ schema *spec.Schema }

func newSchemaValidator(in *apiextensions.JSONSchemaProps) (validation.SchemaValidator, error) {
	_, schema, err := validation.NewSchemaValidator(in)
	return schemaValidator{schema}, err
}

// Validate validates a new value.
func (s schemaValidator) Validate(value any, _ ...validation.ValidationOption) *validate.Result {
	return (&node{schema: s.schema}).Validate(value)
}

// ValidateUpdate validates a changed value. With the option Ratcheting, unchanged parts have no errors.
func (s schemaValidator) ValidateUpdate(value, old any, options ...validation.ValidationOption) *validate.Result {
	o := validation.NewValidationOptions(options...)
	if !o.Ratcheting {
		return s.Validate(value)
	}
	both := o.CorrelatedObject
	if both == nil {
		both = common.NewCorrelatedObject(value, old, &openapi.Schema{Schema: s.schema})
	}
	return (&node{schema: s.schema, both: both}).Validate(both.Value)
}

// node validates one value in an object. The library gets the validators of the value's members from it.
type node struct {
	schema *spec.Schema
	root   any
	path   string
	// both has the value and its old value. It is nil if there is no old value.
	both *common.CorrelatedObject
	// in is the parent of the value, or nil for the object.
	in *node
	// found is the number of errors in the members.
	found int
}

// Validate implements validate.ValueValidator. After MaxErrors errors in the members of its parent, it finds no more.
func (n *node) Validate(value any) *validate.Result {
	if n.in != nil && n.in.found >= invalid.MaxErrors {
		return &validate.Result{}
	}
	result := validate.NewSchemaValidator(n.schema, n.root, n.path, strfmt.Default, n.options).Validate(value)
	if !result.IsValid() && n.both != nil && n.both.CachedDeepEqual() {
		return &validate.Result{}
	}
	if n.in != nil {
		n.in.found += len(result.Errors)
	}
	return result
}

func (n *node) options(o *validate.SchemaValidatorOptions) {
	o.NewValidatorForField = func(
		name string, s *spec.Schema, root any, path string, _ strfmt.Registry, _ ...validate.Option,
	) validate.ValueValidator {
		if n.both == nil || n.path == "" && (name == "kind" || name == "apiVersion") {
			return n.member(s, root, path, nil) // no ratcheting of the type: it is the same in both values
		}
		return n.member(s, root, path, n.both.Key(name))
	}
	o.NewValidatorForIndex = func(
		i int, s *spec.Schema, root any, path string, _ strfmt.Registry, _ ...validate.Option,
	) validate.ValueValidator {
		if n.both == nil {
			return n.member(s, root, path, nil)
		}
		return n.member(s, root, path, n.both.Index(i))
	}
}

// member returns the validator of a member.
func (n *node) member(s *spec.Schema, root any, path string, both *common.CorrelatedObject) validate.ValueValidator {
	return &node{schema: s, root: root, path: path, both: both, in: n}
}

// SetPath implements validate.ValueValidator. The library doesn't call it.
func (*node) SetPath(string) {}

// Applies implements validate.ValueValidator.
func (*node) Applies(any, reflect.Kind) bool { return true }
