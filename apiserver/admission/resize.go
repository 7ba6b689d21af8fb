package admission

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/kubecascade/kubecascade/usage"
)

// Resize is PersistentVolumeClaimResize. A claim can be expanded only while it is bound, and only if its class allows
// volume expansion (K plugin/pkg/admission/storage/persistentvolume/resize).
type Resize struct {
	// Class returns the storage class, or nil if it does not exist.
	Class func(ctx context.Context, name string) (*storagev1.StorageClass, error)
}

var (
	//lint:ignore ST1005 clients know this message
	errUnbound = errors.New("Only bound persistent volume claims can be expanded")
	errFixed   = errors.New(
		"only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize",
	)
)

// Validate implements Validator.
func (p *Resize) Validate(ctx context.Context, a *Attributes) error {
	claim, ok := a.Object.(*corev1.PersistentVolumeClaim)
	if !ok || a.Operation != Update || a.Subresource != "" {
		return nil
	}
	old := a.Old.(*corev1.PersistentVolumeClaim)
	size, was := claim.Spec.Resources.Requests[corev1.ResourceStorage], old.Spec.Resources.Requests[corev1.ResourceStorage]
	if size.Cmp(was) <= 0 {
		return nil
	}
	if old.Status.Phase != corev1.ClaimBound {
		return errUnbound
	}
	name := usage.StorageClass(claim)
	if name == "" || name != usage.StorageClass(old) {
		return errFixed
	}
	class, err := p.Class(ctx, name)
	switch {
	case err != nil:
		return &LookupError{What: "reading storage class " + name, Err: err}
	case class == nil || !ptr.Deref(class.AllowVolumeExpansion, false):
		return errFixed
	}
	return nil
}
