package core

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
	"github.com/kubecascade/kubecascade/finalizers"
)

func namespaces() *entry.Resource {
	return &entry.Resource{
		Plural: "namespaces", New: entry.New[corev1.Namespace],
		ShortNames: []string{"ns"},
		Served:     entry.Served{Verbs: []string{"create", "delete", "get", "list", "patch", "update", "watch"}},
		Strategy: entry.Strategy{
			Name:     apivalidation.ValidateNamespaceName,
			Metadata: entry.Metadata{Again: 1},
			Default:  entry.Default(defaultNamespace),
			Prepare:  entry.Prepare(createNamespace, updateNamespace),
			Validate: entry.Validate(validateNamespace),
		},
		Delete: entry.Deletion{
			Returned: true, Kind: namespaceKind, SpecFinalizers: namespaceFinalizers, Mark: terminateNamespace,
		},
		Subresources: []entry.Subresource{
			{Name: "finalize", Verbs: []string{"update"}, Action: entry.Part,
				PrepareUpdate:  entry.Change(finalizeNamespace),
				ValidateUpdate: entry.ValidateChange(validateNamespaceFinalize),
			},
			entry.StatusSubresource(nil, validateNamespaceStatus),
		},
		Selection: entry.Selection{Selectable: []entry.Field{{Label: "status.phase", Unset: "Active"}}},
		Table: entry.Listed([]entry.Column{entry.Text("Status", "The status of the namespace")},
			func(n *corev1.Namespace) []any { return []any{string(n.Status.Phase)} }),
	}
}

func namespaceKind(runtime.Object) finalizers.Kind { return finalizers.Kind{Namespace: true} }

func namespaceFinalizers(obj runtime.Object) []string {
	var names []string
	for _, f := range obj.(*corev1.Namespace).Spec.Finalizers {
		names = append(names, string(f))
	}
	return names
}

// terminateNamespace sets the phase of a namespace that is being deleted (C-80).
func terminateNamespace(obj runtime.Object) {
	obj.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating
}

// defaultNamespace sets the label with the namespace's name, if there is a name, and the default phase.
func defaultNamespace(n *corev1.Namespace) {
	if n.Name != "" {
		metav1.SetMetaDataLabel(&n.ObjectMeta, corev1.LabelMetadataName, n.Name)
	}
	check.FillDefault(&n.Status.Phase, corev1.NamespaceActive)
}

// createNamespace sets the finalizer, phase and label of a new namespace (A-40, E-02).
func createNamespace(n *corev1.Namespace) {
	n.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	if !slices.Contains(n.Spec.Finalizers, corev1.FinalizerKubernetes) {
		n.Spec.Finalizers = append(n.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
	defaultNamespace(n) // again, because a generated name is set only now
}

// updateNamespace restores the finalizers, which only a write of /finalize changes (E-03).
func updateNamespace(n, old *corev1.Namespace) {
	n.Spec.Finalizers = old.Spec.Finalizers
	defaultNamespace(n)
}

// finalizeNamespace restores the status (B-43).
func finalizeNamespace(n, old *corev1.Namespace) {
	n.Status = old.Status
	defaultNamespace(n)
}

var namespaceFinalizersPath = field.NewPath("spec", "finalizers")

func validateNamespace(ns *corev1.Namespace) (errs field.ErrorList) {
	for _, name := range ns.Spec.Finalizers {
		errs = append(errs, finalizer(string(name), namespaceFinalizersPath)...)
	}
	return errs
}

// validateNamespaceFinalize validates a write of /finalize, which may change the spec's finalizers (E-03).
func validateNamespaceFinalize(ns, _ *corev1.Namespace) (errs field.ErrorList) {
	for i, name := range ns.Spec.Finalizers {
		errs = append(errs, finalizer(string(name), namespaceFinalizersPath.Index(i))...)
	}
	return errs
}

// finalizer requires a qualified name. Without a prefix, only the standard names are valid.
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

// validateNamespaceStatus requires that the phase matches the deletionTimestamp (B-42).
func validateNamespaceStatus(ns, _ *corev1.Namespace) field.ErrorList {
	want, text := corev1.NamespaceActive, "may only be 'Active' if `deletionTimestamp` is empty"
	if !ns.DeletionTimestamp.IsZero() {
		want, text = corev1.NamespaceTerminating, "may only be 'Terminating' if `deletionTimestamp` is not empty"
	}
	return check.Reject(ns.Status.Phase != want, field.NewPath("status", "Phase"), ns.Status.Phase, text)
}
