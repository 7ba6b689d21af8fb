package registry

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// storageClasses returns every storage class (admission.DefaultStorageClass).
func (s *Registry) storageClasses(ctx context.Context) ([]*storagev1.StorageClass, error) {
	return stored[*storagev1.StorageClass](ctx, s, s.Types.Lookup(storagev1.GroupName, "v1", "storageclasses"), "")
}

// ingressClasses returns every ingress class (admission.DefaultIngressClass).
func (s *Registry) ingressClasses(ctx context.Context) ([]*networkingv1.IngressClass, error) {
	return stored[*networkingv1.IngressClass](ctx, s, s.Types.Lookup(networkingv1.GroupName, "v1", "ingressclasses"), "")
}

// storageClass returns one storage class (admission.Resize).
func (s *Registry) storageClass(ctx context.Context, name string) (*storagev1.StorageClass, error) {
	return storedNamed[*storagev1.StorageClass](ctx, s, s.Types.Lookup(storagev1.GroupName, "v1", "storageclasses"), name)
}

// runtimeClass returns one runtime class (admission.RuntimeClass).
func (s *Registry) runtimeClass(ctx context.Context, name string) (*nodev1.RuntimeClass, error) {
	return storedNamed[*nodev1.RuntimeClass](ctx, s, s.Types.Lookup(nodev1.GroupName, "v1", "runtimeclasses"), name)
}
