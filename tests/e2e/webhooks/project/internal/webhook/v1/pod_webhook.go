package v1

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// harborLabel is set on pods that lack it.
const harborLabel = "harbor.example.org/harbor"

// SetupPodWebhookWithManager registers the webhook of Pods, a type of Kubernetes' own.
func SetupPodWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &corev1.Pod{}).WithDefaulter(&PodDefaulter{Harbor: "home"}).Complete()
}

// +kubebuilder:webhook:path=/mutate--v1-pod,mutating=true,failurePolicy=fail,sideEffects=None,groups="",resources=pods,verbs=create,versions=v1,name=mpod-v1.kb.io,admissionReviewVersions=v1

// PodDefaulter labels pods with their harbor.
type PodDefaulter struct{ Harbor string }

// Default implements admission.Defaulter.
func (d *PodDefaulter) Default(_ context.Context, p *corev1.Pod) error {
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	if p.Labels[harborLabel] == "" {
		p.Labels[harborLabel] = d.Harbor
	}
	return nil
}
