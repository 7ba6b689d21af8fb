package registry

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// IgnoreReadError is the delete option that the feature gate AllowUnsafeMalformedObjectDeletion enables.
const IgnoreReadError = "ignoreStoreReadErrorWithClusterBreakingPotential"

// errCodeInvalid is the number of etcd3's error for an object that is not as the operation expects (AS
// pkg/storage/errors.go: ErrCodeInvalidObj).
const errCodeInvalid = 4

// NotMalformed is the error 409 for an object that can be decoded (V-054; AS pkg/storage/etcd3/store.go:
// getState, pkg/storage/errors/storage.go: InterpretDeleteError).
func (o *Operation) NotMalformed(key string) error {
	return apierrors.NewConflict(o.Resource.GroupResource(), o.Name, fmt.Errorf(
		"StorageError: invalid object, Code: %d, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: "+
			"unsafe deletion is not allowed because the object is decodable from storage", errCodeInvalid, key))
}
