package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// InUseProtection is StorageObjectInUseProtection. It adds a finalizer to new volumes, claims and volume attributes
// classes, so that they are not removed while they are in use (F-01). The protection controllers remove it. If these
// controllers don't run, a client must remove it.
type InUseProtection struct{}

// Admit implements Mutator.
func (InUseProtection) Admit(_ context.Context, a *Attributes) error {
	if a.Operation != Create || a.Subresource != "" {
		return nil
	}
	switch o := a.Object.(type) {
	case *corev1.PersistentVolume:
		protect(o, "kubernetes.io/pv-protection")
	case *corev1.PersistentVolumeClaim:
		protect(o, "kubernetes.io/pvc-protection")
	case *storagev1.VolumeAttributesClass:
		protect(o, "kubernetes.io/vac-protection")
	}
	return nil
}

func protect(o metav1.Object, finalizer string) {
	if fs := o.GetFinalizers(); !slices.Contains(fs, finalizer) {
		o.SetFinalizers(append(fs, finalizer))
	}
}
