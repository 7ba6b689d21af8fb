package registry

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

// IgnoreReadError is the delete option that the feature gate AllowUnsafeMalformedObjectDeletion enables.
const IgnoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential"

// NotMalformed is the error 422 for an object that can be decoded.
func (o *Operation) NotMalformed() error {
	return invalid.New(schema.GroupKind{Group: o.Resource.Group, Kind: o.Resource.Plural}, o.Name, field.ErrorList{
		field.Invalid(field.NewPath(IgnoreReadError), true,
			"is exclusively used to delete corrupt object(s), try again by removing this option")})
}
