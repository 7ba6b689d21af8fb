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

// Admit implements Mutator.
func (p *DefaultStorageClass) Admit(ctx context.Context, a *Attributes) error {
	if claim, ok := a.Object.(*corev1.PersistentVolumeClaim); ok {
		return setDefault(ctx, a, "storage classes", p.Classes, &claim.Spec.StorageClassName,
			corev1.BetaStorageClassAnnotation,
			"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")
	}
	return nil
}

// DefaultIngressClass sets the default ingress class, if there is one, in an ingress without a class (K
// plugin/pkg/admission/network/defaultingressclass).
type DefaultIngressClass struct {
	// Classes returns all ingress classes.
	Classes func(ctx context.Context) ([]*networkingv1.IngressClass, error)
}

// Admit implements Mutator.
func (p *DefaultIngressClass) Admit(ctx context.Context, a *Attributes) error {
	if ingress, ok := a.Object.(*networkingv1.Ingress); ok {
		return setDefault(ctx, a, "ingress classes", p.Classes, &ingress.Spec.IngressClassName,
			"kubernetes.io/ingress.class", networkingv1.AnnotationIsDefaultIngressClass)
	}
	return nil
}

// setDefault sets the default class in a new object that has no class, neither in its spec nor in an annotation.
func setDefault[T metav1.Object](
	ctx context.Context, a *Attributes, what string, list func(context.Context) ([]T, error), class **string,
	annotation string, defaults ...string,
) error {
	if a.Operation != Create || a.Subresource != "" || *class != nil {
		return nil
	}
	if _, named := a.Object.(metav1.Object).GetAnnotations()[annotation]; named {
		return nil
	}
	classes, err := list(ctx)
	if err != nil {
		return &LookupError{What: "listing " + what, Err: err}
	}
	*class = defaultOf(classes, defaults)
	return nil
}

// defaultOf returns the name of a class with one of the annotations, or nil. It prefers the newest class and, of
// equally new ones, the first by name.
func defaultOf[T metav1.Object](classes []T, annotations []string) *string {
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
