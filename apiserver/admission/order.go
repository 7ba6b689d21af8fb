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
	plugins := []Choice{
		{Plugin: &Lifecycle{State: l.NamespaceState}, Default: true},
		{Plugin: &LimitRanger{Ranges: allIfAny[*corev1.LimitRange](l, limits)}, Default: true},
		{Plugin: &ServiceAccount{Account: accounts(l), GenerateName: l.GenerateName}},
		{Plugin: TaintNodes{}, Default: true},
		{Plugin: &PodSecurity{Labels: l.NamespaceLabels, Pods: storedPods(l), Now: l.Now}, Default: true},
		{Plugin: &Priority{Classes: clusterObjects[*schedulingv1.PriorityClass](l, priorities)}, Default: true},
		{Plugin: DefaultTolerations{}, Default: true},
		{Plugin: &DefaultStorageClass{Classes: clusterObjects[*storagev1.StorageClass](l, storages)}, Default: true},
		{Plugin: InUseProtection{}, Default: true},
		{Plugin: &OwnerReferences{Authorize: l.Authorize, Resources: l.Kinds}},
		{Plugin: &Resize{Class: clusterObject[*storagev1.StorageClass](l, storages)}, Default: true},
		{Plugin: &RuntimeClass{Class: clusterObject[*nodev1.RuntimeClass](l, runtimes)}, Default: true},
		{Plugin: &CertificateApproval{Authorize: l.Authorize}, Default: true},
		{Plugin: &CertificateSigning{Authorize: l.Authorize}, Default: true},
		{Plugin: &ClusterTrustBundleAttest{Authorize: l.Authorize}, Default: true},
		{Plugin: CertificateSubject{}, Default: true},
		{Plugin: &DefaultIngressClass{Classes: clusterObjects[*networkingv1.IngressClass](l, ingresses)}, Default: true},
		{Plugin: &NodeFeatures{Node: clusterObject[*corev1.Node](l, nodes)}, Default: true},
	}
	quota := &Quota{Quotas: allIfAny[*corev1.ResourceQuota](l, quotas), Store: updateQuotas, Now: l.Now}
	return append(append(plugins, dynamic...), Choice{Plugin: quota, Default: true})
}
