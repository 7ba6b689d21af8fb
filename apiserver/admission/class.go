package admission

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultStorageClass sets the default storage class, if there is one, in a claim without a class (K
// plugin/pkg/admission/storage/storageclass/setdefault).
type DefaultStorageClass struct {
	// Classes returns all storage classes.
	Classes func(ctx context.Context) ([]*storagev1.StorageClass, error)
}

// Name implements Plugin.
func (*DefaultStorageClass) Name() string { return "DefaultStorageClass" }

// Admit implements Mutator.
func (p *DefaultStorageClass) Admit(ctx context.Context, a *Attributes) error {
	claim, ok := a.Object.(*corev1.PersistentVolumeClaim)
	if !ok || a.Operation != Create || a.Subresource != "" || claim.Spec.StorageClassName != nil {
		return nil
	}
	if _, named := claim.Annotations[corev1.BetaStorageClassAnnotation]; named {
		return nil
	}
	classes, err := p.Classes(ctx)
	if err != nil {
		return &LookupError{What: "listing storage classes", Err: err}
	}
	claim.Spec.StorageClassName = defaultOf(
		classes, "storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class",
	)
	return nil
}

// DefaultIngressClass sets the default ingress class, if there is one, in an ingress without a class (K
// plugin/pkg/admission/network/defaultingressclass).
type DefaultIngressClass struct {
	// Classes returns all ingress classes.
	Classes func(ctx context.Context) ([]*networkingv1.IngressClass, error)
}

// Name implements Plugin.
func (*DefaultIngressClass) Name() string { return "DefaultIngressClass" }

// Admit implements Mutator.
func (p *DefaultIngressClass) Admit(ctx context.Context, a *Attributes) error {
	ingress, ok := a.Object.(*networkingv1.Ingress)
	if !ok || a.Operation != Create || a.Subresource != "" || ingress.Spec.IngressClassName != nil {
		return nil
	}
	if _, named := ingress.Annotations["kubernetes.io/ingress.class"]; named {
		return nil
	}
	classes, err := p.Classes(ctx)
	if err != nil {
		return &LookupError{What: "listing ingress classes", Err: err}
	}
	ingress.Spec.IngressClassName = defaultOf(classes, networkingv1.AnnotationIsDefaultIngressClass)
	return nil
}

// defaultOf returns the name of the class with one of the annotations, nil if there is none. Of several it returns the
// newest, of equally new ones the first by name.
func defaultOf[T metav1.Object](classes []T, annotations ...string) *string {
	var best metav1.Object
	for _, c := range classes {
		is := false
		for _, a := range annotations {
			is = is || c.GetAnnotations()[a] == "true"
		}
		if is && (best == nil || newer(c, best)) {
			best = c
		}
	}
	if best == nil {
		return nil
	}
	name := best.GetName()
	return &name
}

func newer(a, b metav1.Object) bool {
	return cmp.Or(b.GetCreationTimestamp().Compare(a.GetCreationTimestamp().Time), cmp.Compare(
		a.GetName(), b.GetName(),
	)) < 0
}
