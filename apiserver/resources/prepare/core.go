package prepare

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/defaults"
)

// createNamespace gives a namespace its finalizer, phase and label (A-40, E-02).
func createNamespace(n *corev1.Namespace) {
	n.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	if !slices.Contains(n.Spec.Finalizers, corev1.FinalizerKubernetes) {
		n.Spec.Finalizers = append(n.Spec.Finalizers, corev1.FinalizerKubernetes)
	}
	defaults.Namespace(n) // a generated name has only now become a label
}

// updateNamespace keeps the finalizers, which only /finalize changes (E-03).
func updateNamespace(n, old *corev1.Namespace) {
	n.Spec.Finalizers = old.Spec.Finalizers
	defaults.Namespace(n)
}

// finalizeNamespace lets all but the status change (B-43).
func finalizeNamespace(n, old *corev1.Namespace) {
	n.Status = old.Status
	defaults.Namespace(n)
}

// createNode drops the configuration by the API, which is gone; nodes say themselves how they are.
func createNode(n *corev1.Node) {
	n.Spec.ConfigSource = nil
	n.Status.Config = nil
}

func updateNode(n, old *corev1.Node) {
	n.Status = old.Status
	if old.Spec.ConfigSource == nil {
		n.Spec.ConfigSource = nil
	}
}

func nodeStatus(n, old *corev1.Node) {
	if old.Status.Config == nil {
		n.Status.Config = nil
	}
}

func nodeWarnings(n, _ *corev1.Node) []string {
	var texts []string
	if n.Spec.ConfigSource != nil {
		texts = append(texts, "spec.configSource: the feature is removed")
	}
	if n.Spec.DoNotUseExternalID != "" {
		texts = append(texts, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	return texts
}

// nameLimitRange gives a limit range without a name a random one. Upstream takes a fresh UUID; the
// object's own is as fresh.
func nameLimitRange(l *corev1.LimitRange) {
	if l.Name == "" {
		l.Name = string(l.UID)
	}
}

// nameSecrets keeps of references to secrets nothing but the name.
func nameSecrets(a *corev1.ServiceAccount) {
	for i := range a.Secrets {
		a.Secrets[i] = corev1.ObjectReference{Name: a.Secrets[i].Name}
	}
}

func updateServiceAccount(a, _ *corev1.ServiceAccount) { nameSecrets(a) }

const mountable = "kubernetes.io/enforce-mountable-secrets"

func serviceAccountWarnings(a, old *corev1.ServiceAccount) []string {
	if old != nil {
		if _, had := old.Annotations[mountable]; had {
			return nil
		}
	}
	if _, has := a.Annotations[mountable]; !has {
		return nil
	}
	return []string{field.NewPath("metadata", "annotations").Key(mountable).String() +
		": deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"}
}
