package registry

import (
	"context"

	"github.com/kubecascade/kubecascade/apiserver/admission"
)

// Plugins are the admission plugins in the order in which they run.
func (s *Registry) Plugins() []admission.Choice {
	return []admission.Choice{
		{Plugin: &admission.Lifecycle{State: s.namespaceState}, Default: true},
		{Plugin: &admission.LimitRanger{Ranges: s.limitRanges}, Default: true},
		{Plugin: &admission.ServiceAccount{Account: s.serviceAccount, GenerateName: generatedName}},
		{Plugin: admission.TaintNodes{}, Default: true},
		{Plugin: &admission.PodSecurity{Labels: s.namespaceLabels, Pods: s.podsWithin, Now: s.Now}, Default: true},
		{Plugin: &admission.Priority{Classes: s.priorityClasses}, Default: true},
		{Plugin: admission.DefaultTolerations{}, Default: true},
		{Plugin: &admission.DefaultStorageClass{Classes: s.storageClasses}, Default: true},
		{Plugin: admission.InUseProtection{}, Default: true},
		{Plugin: &admission.OwnerReferences{Authorize: s.Authorizer.Authorize, Resources: s.ownerResources}, Default: true},
		{Plugin: &admission.Resize{Class: s.storageClass}, Default: true},
		{Plugin: &admission.RuntimeClass{Class: s.runtimeClass}, Default: true},
		{Plugin: &admission.CertificateApproval{Authorize: s.Authorizer.Authorize}, Default: true},
		{Plugin: &admission.CertificateSigning{Authorize: s.Authorizer.Authorize}, Default: true},
		{Plugin: admission.CertificateSubject{}, Default: true},
		{Plugin: &admission.DefaultIngressClass{Classes: s.ingressClasses}, Default: true},
		{Plugin: &admission.Quota{Quotas: s.resourceQuotas, Store: s.storeQuota, Now: s.Now}, Default: true},
	}
}

// namespaceState is as fresh as a quorum read.
func (s *Registry) namespaceState(ctx context.Context, name string) (admission.NamespaceState, error) {
	o, err := s.Load(ctx, s.Root+"/namespaces/"+name)
	switch {
	case err != nil:
		return 0, err
	case o == nil:
		return admission.NamespaceAbsent, nil
	case o.Meta.Deleting():
		return admission.NamespaceTerminating, nil
	}
	return admission.NamespaceActive, nil
}
