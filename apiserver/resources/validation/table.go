package validation

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Kind is what a kind's validation consists of, beyond metadata. A nil func accepts everything.
type Kind struct {
	// Create judges a new object.
	Create func(obj runtime.Object) field.ErrorList
	// Update judges a change of the object itself: what may not change, and what is new.
	Update func(obj, old runtime.Object) field.ErrorList
	// Status judges a change through the status subresource.
	Status func(obj, old runtime.Object) field.ErrorList
	// Parts are those of other subresources by their names: finalize, ephemeralcontainers, resize, approval.
	Parts map[string]func(obj, old runtime.Object) field.ErrorList
}

// For returns the validation of a kind; its funcs are nil for a kind that has none. They take
// pointers to the Go type that doc.go names and find nothing wrong with any other object.
func For(gk schema.GroupKind) Kind {
	if k, ok := kinds[gk]; ok {
		return k
	}
	return workloads[gk]
}

// kinds are those without pods; workloads_table.go has the others.
var kinds = map[schema.GroupKind]Kind{
	{Kind: "ConfigMap"}: {Create: one(configMap), Update: two(configMapUpdate)},
	{Kind: "Secret"}:    {Create: one(secret), Update: two(secretUpdate)},
	{Kind: "Namespace"}: {Create: one(namespace), Update: again(namespace), Status: two(namespaceStatus),
		Parts: part("finalize", two(namespaceFinalize))},
	{Kind: "Service"}: {Create: one(serviceCreate), Update: two(serviceUpdate), Status: two(serviceStatus)},
	// There is nothing but metadata to get wrong.
	{Kind: "ServiceAccount"}:        {},
	{Kind: "PersistentVolume"}:      {Create: one(persistentVolume), Update: two(persistentVolumeUpdate), Status: two(persistentVolumeStatus)},
	{Kind: "PersistentVolumeClaim"}: {Create: one(claim), Update: two(claimUpdate), Status: two(claimStatus)},
	{Kind: "Event"}:                 {Create: one(event), Update: again(event)},
	{Kind: "Endpoints"}:             {Create: one(endpoints), Update: two(endpointsUpdate)},
	{Kind: "LimitRange"}:            {Create: one(limitRange), Update: two(limitRangeUpdate)},
	{Kind: "ResourceQuota"}:         {Create: one(resourceQuota), Update: two(resourceQuotaUpdate), Status: two(resourceQuotaStatus)},
	{Kind: "Node"}:                  {Create: one(node), Update: two(nodeUpdate), Status: two(nodeStatus)},

	{Group: "events.k8s.io", Kind: "Event"}:                 strictEvents,
	{Group: "discovery.k8s.io", Kind: "EndpointSlice"}:      {Create: one(endpointSlice), Update: two(endpointSliceUpdate)},
	{Group: "apps", Kind: "ControllerRevision"}:             {Create: one(controllerRevision), Update: two(controllerRevisionUpdate)},
	{Group: "coordination.k8s.io", Kind: "Lease"}:           {Create: one(lease), Update: two(leaseUpdate)},
	{Group: "policy", Kind: "PodDisruptionBudget"}:          {Create: one(disruptionBudget), Update: two(disruptionBudgetUpdate), Status: two(disruptionBudgetStatus)},
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}:     {Create: one(priorityClass), Update: two(priorityClassUpdate)},
	{Group: "node.k8s.io", Kind: "RuntimeClass"}:            {Create: one(runtimeClass), Update: two(runtimeClassUpdate)},
	{Group: "apiregistration.k8s.io", Kind: "APIService"}:   {Create: one(apiService), Update: two(apiServiceUpdate), Status: two(apiServiceStatus)},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: {Create: one(autoscaler), Update: two(autoscalerUpdate), Status: two(autoscalerStatus)},

	{Group: "rbac.authorization.k8s.io", Kind: "Role"}:               {Create: one(role), Update: two(roleUpdate)},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}:        {Create: one(clusterRole), Update: two(clusterRoleUpdate)},
	{Group: "rbac.authorization.k8s.io", Kind: "RoleBinding"}:        {Create: one(roleBinding), Update: two(roleBindingUpdate)},
	{Group: "rbac.authorization.k8s.io", Kind: "ClusterRoleBinding"}: {Create: one(clusterRoleBinding), Update: two(clusterRoleBindingUpdate)},

	{Group: "networking.k8s.io", Kind: "Ingress"}:       {Create: one(ingress), Update: two(ingressUpdate), Status: two(ingressStatus)},
	{Group: "networking.k8s.io", Kind: "IngressClass"}:  {Create: one(ingressClass), Update: two(ingressClassUpdate)},
	{Group: "networking.k8s.io", Kind: "NetworkPolicy"}: {Create: one(networkPolicy), Update: two(networkPolicyUpdate)},
	{Group: "networking.k8s.io", Kind: "IPAddress"}:     {Create: one(ipAddress), Update: two(ipAddressUpdate)},
	{Group: "networking.k8s.io", Kind: "ServiceCIDR"}:   {Create: one(serviceCIDR), Update: two(serviceCIDRUpdate)},

	{Group: "storage.k8s.io", Kind: "StorageClass"}:          {Create: one(storageClass), Update: two(storageClassUpdate)},
	{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}: {Create: one(volumeAttributesClass), Update: two(volumeAttributesClassUpdate)},
	{Group: "storage.k8s.io", Kind: "VolumeAttachment"}:      {Create: one(volumeAttachment), Update: two(volumeAttachmentUpdate), Status: two(volumeAttachmentUpdate)},
	{Group: "storage.k8s.io", Kind: "CSIDriver"}:             {Create: one(csiDriverObject), Update: two(csiDriverUpdate)},
	{Group: "storage.k8s.io", Kind: "CSINode"}:               {Create: one(csiNode), Update: two(csiNodeUpdate)},
	{Group: "storage.k8s.io", Kind: "CSIStorageCapacity"}:    {Create: one(storageCapacity), Update: two(storageCapacityUpdate)},

	{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: {Create: one(signingRequest), Update: two(signingRequestUpdate),
		Status: two(signingRequestStatus), Parts: part("approval", two(signingRequestApproval))},

	{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration"}: {Create: one(validatingWebhooks), Update: two(validatingWebhooksUpdate)},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingWebhookConfiguration"}:   {Create: one(mutatingWebhooks), Update: two(mutatingWebhooksUpdate)},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicy"}: {Create: one(validatingPolicy), Update: two(validatingPolicyUpdate),
		Status: two(validatingPolicyStatus)},
	{Group: "admissionregistration.k8s.io", Kind: "ValidatingAdmissionPolicyBinding"}: {Create: one(validatingBinding), Update: two(validatingBindingUpdate)},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicy"}:          {Create: one(mutatingPolicy), Update: two(mutatingPolicyUpdate)},
	{Group: "admissionregistration.k8s.io", Kind: "MutatingAdmissionPolicyBinding"}:   {Create: one(mutatingBinding), Update: two(mutatingBindingUpdate)},

	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}: {Create: one(definition), Update: two(definitionUpdate),
		Status: two(definitionStatus)},

	{Group: "flowcontrol.apiserver.k8s.io", Kind: "FlowSchema"}: {Create: one(flowSchema), Update: two(flowSchemaUpdate), Status: two(flowSchemaStatus)},
	{Group: "flowcontrol.apiserver.k8s.io", Kind: "PriorityLevelConfiguration"}: {Create: one(priorityLevel), Update: two(priorityLevelUpdate),
		Status: two(priorityLevelStatus)},

	{Group: "resource.k8s.io", Kind: "DeviceClass"}: {Create: one(deviceClass), Update: two(deviceClassUpdate)},
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}: {Create: one(resourceClaim), Update: two(resourceClaimUpdate),
		Status: two(resourceClaimStatus)},
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}: {Create: one(resourceClaimTemplate), Update: two(resourceClaimTemplateUpdate)},
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}:         {Create: one(resourceSlice), Update: two(resourceSliceUpdate)},
}

// one makes a kind's own function one of any object.
func one[T any](f func(obj *T) field.ErrorList) func(runtime.Object) field.ErrorList {
	return func(o runtime.Object) field.ErrorList {
		obj, ok := any(o).(*T)
		if !ok || obj == nil {
			return nil
		}
		return f(obj)
	}
}

// two does so for a change.
func two[T any](f func(obj, old *T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return func(o, before runtime.Object) field.ErrorList {
		obj, ok := any(o).(*T)
		old, was := any(before).(*T)
		if !ok || !was || obj == nil || old == nil {
			return nil
		}
		return f(obj, old)
	}
}

// again judges a changed object as if it were new.
func again[T any](f func(obj *T) field.ErrorList) func(obj, old runtime.Object) field.ErrorList {
	return two(func(obj, _ *T) field.ErrorList { return f(obj) })
}

// part is the table of a kind with one other subresource.
func part(name string, f func(obj, old runtime.Object) field.ErrorList) map[string]func(obj, old runtime.Object) field.ErrorList {
	return map[string]func(obj, old runtime.Object) field.ErrorList{name: f}
}
