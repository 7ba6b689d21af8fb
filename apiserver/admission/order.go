package admission

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// All returns the admission plugins in the order in which they run. The dynamic ones, for webhooks and policies, run
// after the others, but before quotas are charged (L-01).
func All(l Lookup, dynamic ...Choice) []Choice {
	var (
		limits       = corev1.SchemeGroupVersion.WithResource("limitranges")
		quotas       = corev1.SchemeGroupVersion.WithResource("resourcequotas")
		priorities   = schedulingv1.SchemeGroupVersion.WithResource("priorityclasses")
		storages     = storagev1.SchemeGroupVersion.WithResource("storageclasses")
		runtimes     = nodev1.SchemeGroupVersion.WithResource("runtimeclasses")
		ingresses    = networkingv1.SchemeGroupVersion.WithResource("ingressclasses")
		nodes        = corev1.SchemeGroupVersion.WithResource("nodes")
		updateQuotas = func(ctx context.Context, q *corev1.ResourceQuota) error { return l.UpdateStatus(ctx, quotas, q) }
	)
	creates, updates, writes := []Operation{Create}, []Operation{Update}, []Operation{Create, Update}
	removals := []Operation{Create, Update, Delete}
	plugins := []Choice{
		{"NamespaceLifecycle", removals, true, &Lifecycle{State: l.NamespaceState}},
		{"LimitRanger", writes, true, &LimitRanger{Ranges: allIfAny[*corev1.LimitRange](l, limits)}},
		{"ServiceAccount", writes, false, &ServiceAccount{Account: accounts(l)}},
		{"TaintNodesByCondition", creates, true, TaintNodes{}},
		{"PodSecurity", writes, true, &PodSecurity{Labels: l.NamespaceLabels, Pods: storedPods(l), Now: l.Now}},
		{"Priority", removals, true, &Priority{Classes: clusterObjects[*schedulingv1.PriorityClass](l, priorities)}},
		{"DefaultTolerationSeconds", writes, true, DefaultTolerations{}},
		{"DefaultStorageClass", creates, true,
			&DefaultStorageClass{Classes: clusterObjects[*storagev1.StorageClass](l, storages)}},
		{"StorageObjectInUseProtection", creates, true, InUseProtection{}},
		{"OwnerReferencesPermissionEnforcement", writes, false,
			&OwnerReferences{Authorize: l.Authorize, Resources: l.Kinds}},
		{"PersistentVolumeClaimResize", updates, true,
			&Resize{Class: clusterObject[*storagev1.StorageClass](l, storages)}},
		{"RuntimeClass", creates, true, &RuntimeClass{Class: clusterObject[*nodev1.RuntimeClass](l, runtimes)}},
		{"CertificateApproval", updates, true, &CertificateApproval{Authorize: l.Authorize}},
		{"CertificateSigning", updates, true, &CertificateSigning{Authorize: l.Authorize}},
		{"ClusterTrustBundleAttest", writes, true, &ClusterTrustBundleAttest{Authorize: l.Authorize}},
		{"CertificateSubjectRestriction", creates, true, CertificateSubject{}},
		{"DefaultIngressClass", creates, true,
			&DefaultIngressClass{Classes: clusterObjects[*networkingv1.IngressClass](l, ingresses)}},
		{"NodeDeclaredFeatureValidator", writes, true, &NodeFeatures{Node: clusterObject[*corev1.Node](l, nodes)}},
	}
	quota := &Quota{Quotas: allIfAny[*corev1.ResourceQuota](l, quotas), Store: updateQuotas, Now: l.Now}
	return append(append(plugins, dynamic...), Choice{"ResourceQuota", writes, true, quota})
}
