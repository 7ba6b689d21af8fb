package resources

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/finalizers"
)

// For returns what the decision on a DELETE of obj needs of its kind.
func (d *Deletion) For(obj runtime.Object) finalizers.Kind {
	if d.Kind == nil {
		return finalizers.Kind{Policy: d.Policy}
	}
	k := d.Kind(obj)
	k.Policy = d.Policy
	return k
}

// podKind: only pods are graceful; one that never started or has finished dies at once (C-30).
func podKind(obj runtime.Object) finalizers.Kind {
	pod := obj.(*corev1.Pod)
	return finalizers.Kind{
		Graceful:            true,
		DefaultGraceSeconds: pod.Spec.TerminationGracePeriodSeconds,
		GraceForbidden: pod.Spec.NodeName == "" ||
			pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed,
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

// terminateNamespace (C-80).
func terminateNamespace(obj runtime.Object) {
	obj.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating
}

func crdKind(runtime.Object) finalizers.Kind {
	return finalizers.Kind{Cleanup: apiextensionsv1.CustomResourceCleanupFinalizer}
}

// terminateCRD sets the condition that a first DELETE leaves (C-84). The transition happened when
// the deletion did.
func terminateCRD(obj runtime.Object) {
	crd := obj.(*apiextensionsv1.CustomResourceDefinition)
	c := apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: apiextensionsv1.ConditionTrue,
		Reason:  "InstanceDeletionPending",
		Message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
	}
	if crd.DeletionTimestamp != nil {
		c.LastTransitionTime = *crd.DeletionTimestamp
	}
	for i := range crd.Status.Conditions {
		old := &crd.Status.Conditions[i]
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		*old = c
		return
	}
	crd.Status.Conditions = append(crd.Status.Conditions, c)
}

// beginCRD is what the controller of definitions says first (F-10).
func beginCRD(obj runtime.Object) {
	crd := obj.(*apiextensionsv1.CustomResourceDefinition)
	for i := range crd.Status.Conditions {
		if c := &crd.Status.Conditions[i]; c.Type == apiextensionsv1.Terminating && c.Reason == "InstanceDeletionPending" {
			c.Reason, c.Message = "InstanceDeletionInProgress", "CustomResource deletion is in progress"
		}
	}
}

// jobWarning (C-24).
const jobWarning = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"

// systemPriority protects the two classes that every cluster has (C-67).
func systemPriority(name string) string {
	switch name {
	case "system-cluster-critical", "system-node-critical":
		return "this is a system priority class and cannot be deleted"
	}
	return ""
}
