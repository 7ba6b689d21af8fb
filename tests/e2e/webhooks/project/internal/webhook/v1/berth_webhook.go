// Package v1 has the admission webhooks of Berths and of pods.
package v1

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	harborv1 "github.com/kubecascade/kubecascade/tests/e2e/webhooks/project/api/v1"
)

// SetupBerthWebhookWithManager registers the webhooks of Berths, the conversion of their versions included.
func SetupBerthWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &harborv1.Berth{}).
		WithDefaulter(&BerthDefaulter{LongQuay: "north", ShortQuay: "south", LongMeters: 100}).
		WithValidator(&BerthValidator{TugMeters: 150, MaxMeters: 300}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-harbor-example-org-v1-berth,mutating=true,failurePolicy=fail,sideEffects=None,groups=harbor.example.org,resources=berths,verbs=create;update,versions=v1,name=mberth-v1.kb.io,admissionReviewVersions=v1

// BerthDefaulter chooses the quay of vessels that name none.
type BerthDefaulter struct {
	LongQuay, ShortQuay string
	// LongMeters is the length from which a vessel needs LongQuay.
	LongMeters int32
}

// Default implements admission.Defaulter.
func (d *BerthDefaulter) Default(_ context.Context, b *harborv1.Berth) error {
	switch {
	case b.Spec.Quay != "":
	case b.Spec.LengthMeters >= d.LongMeters:
		b.Spec.Quay = d.LongQuay
	default:
		b.Spec.Quay = d.ShortQuay
	}
	return nil
}

// +kubebuilder:webhook:path=/validate-harbor-example-org-v1-berth,mutating=false,failurePolicy=fail,sideEffects=None,groups=harbor.example.org,resources=berths,verbs=create;update;delete,versions=v1,name=vberth-v1.kb.io,admissionReviewVersions=v1

// BerthValidator rejects vessels that the harbor can't take.
type BerthValidator struct {
	// TugMeters is the length from which a vessel needs a tug, which is a warning, MaxMeters the greatest allowed one.
	TugMeters, MaxMeters int32
}

// ValidateCreate implements admission.Validator.
func (v *BerthValidator) ValidateCreate(_ context.Context, b *harborv1.Berth) (admission.Warnings, error) {
	var warnings admission.Warnings
	if b.Spec.LengthMeters >= v.TugMeters {
		warnings = append(warnings, fmt.Sprintf("%s needs a tug", b.Spec.Vessel))
	}
	if b.Spec.LengthMeters > v.MaxMeters {
		return warnings, v.invalid(b, field.Invalid(
			field.NewPath("spec", "lengthMeters"), b.Spec.LengthMeters, fmt.Sprintf("must be at most %d", v.MaxMeters),
		))
	}
	return warnings, nil
}

// ValidateUpdate implements admission.Validator.
func (v *BerthValidator) ValidateUpdate(
	ctx context.Context, old, b *harborv1.Berth,
) (admission.Warnings, error) {
	if old.Spec.Moored && old.Spec.Quay != b.Spec.Quay {
		return nil, v.invalid(b, field.Forbidden(field.NewPath("spec", "quay"), "the vessel is moored"))
	}
	return v.ValidateCreate(ctx, b)
}

// ValidateDelete implements admission.Validator.
func (v *BerthValidator) ValidateDelete(_ context.Context, b *harborv1.Berth) (admission.Warnings, error) {
	if b.Spec.Moored {
		return nil, fmt.Errorf("%s is moored", b.Spec.Vessel)
	}
	return nil, nil
}

func (v *BerthValidator) invalid(b *harborv1.Berth, err *field.Error) error {
	return apierrors.NewInvalid(harborv1.GroupVersion.WithKind("Berth").GroupKind(), b.Name, field.ErrorList{err})
}
