package validation

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

var namespaceFinalizersPath = field.NewPath("spec", "finalizers")

func namespace(ns *corev1.Namespace) (errs field.ErrorList) {
	for _, name := range invalid.Each(ns.Spec.Finalizers, &errs) {
		errs = append(errs, finalizer(string(name), namespaceFinalizersPath)...)
	}
	return errs
}

// namespaceFinalize is the update that may change the spec's finalizers (E-03).
func namespaceFinalize(ns, _ *corev1.Namespace) (errs field.ErrorList) {
	for i, name := range invalid.Each(ns.Spec.Finalizers, &errs) {
		errs = append(errs, finalizer(string(name), namespaceFinalizersPath.Index(i))...)
	}
	return errs
}

// finalizer wants a qualified name, and of those without a prefix only the standard ones.
func finalizer(name string, at *field.Path) field.ErrorList {
	errs := apivalidation.ValidateFinalizerName(name, at)
	if strings.Contains(name, "/") {
		return errs
	}
	switch name {
	case string(corev1.FinalizerKubernetes), metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents:
		return errs
	}
	return append(errs, field.Invalid(at, name, "name is neither a standard finalizer name nor is it fully qualified"))
}

// namespaceStatus keeps phase and deletion in agreement (B-42).
func namespaceStatus(ns, _ *corev1.Namespace) field.ErrorList {
	want, text := corev1.NamespaceActive, "may only be 'Active' if `deletionTimestamp` is empty"
	if !ns.DeletionTimestamp.IsZero() {
		want, text = corev1.NamespaceTerminating, "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	if ns.Status.Phase == want {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("status", "Phase"), ns.Status.Phase, text)}
}
