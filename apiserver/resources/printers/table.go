package printers

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Table is how objects of a kind are printed.
type Table struct {
	Columns []Column
	// Cells returns one value a column, of the types that JSON prints: string, int64, bool. now
	// is for ages.
	Cells func(obj runtime.Object, now time.Time) []any
	// Conditions, if set, returns the conditions of the object's row; nil when it has none.
	Conditions func(obj runtime.Object) []metav1.TableRowCondition
	// Compare, if set, orders the rows of a list: negative when a comes before b. Without it rows
	// keep the order of the list.
	Compare func(a, b runtime.Object) int
}

// For returns the table of a built-in kind; false says that the kind is unknown here and
// Default fits. Tables share their columns, which must not be changed.
func For(gk schema.GroupKind) (Table, bool) {
	t, ok := tables[gk]
	return t, ok
}

// Default is the table of kinds that have none of their own: Name and Created At, the latter in
// RFC 3339, not an age (defaultTableConvertor). Objects must have metadata; one without prints no
// cells.
func Default() Table {
	created := Column{Name: "Created At", Type: "date", Description: objectMeta["creationTimestamp"]}
	return Table{Columns: []Column{nameColumn, created}, Cells: defaultCells}
}

func defaultCells(obj runtime.Object, _ time.Time) []any {
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}
}

// of makes a Table of cells of one Go type.
func of[T runtime.Object](columns []Column, cells func(T, time.Time) []any) Table {
	return Table{
		Columns: columns,
		Cells:   func(obj runtime.Object, now time.Time) []any { return cells(as[T](obj), now) },
	}
}

func as[T runtime.Object](obj runtime.Object) T {
	t, ok := obj.(T)
	if !ok {
		panic(fmt.Sprintf("printers: the table of %T was asked for the cells of a %T", t, obj))
	}
	return t
}

func kind(group, name string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: name} }

// tables has every kind that a v1.36.3 server serves by default, and Scale, which subresources
// answer with. It is only read.
var tables = map[schema.GroupKind]Table{
	kind("", "ComponentStatus"):       of(componentStatusColumns(), componentStatusCells),
	kind("", "ConfigMap"):             of(configMapColumns(), configMapCells),
	kind("", "Endpoints"):             of(endpointsColumns(), endpointsCells),
	kind("", "Event"):                 of(eventColumns(), eventCells),
	kind("", "LimitRange"):            Default(),
	kind("", "Namespace"):             of(namespaceColumns(), namespaceCells),
	kind("", "Node"):                  of(nodeColumns(), nodeCells),
	kind("", "PersistentVolume"):      of(volumeColumns(), volumeCells),
	kind("", "PersistentVolumeClaim"): of(claimColumns(), claimCells),
	kind("", "Pod"):                   podTable(),
	kind("", "PodTemplate"):           of(podTemplateColumns(), podTemplateCells),
	kind("", "ReplicationController"): of(replicationControllerColumns(), replicationControllerCells),
	kind("", "ResourceQuota"):         of(resourceQuotaColumns(), resourceQuotaCells),
	kind("", "Secret"):                of(secretColumns(), secretCells),
	kind("", "Service"):               of(serviceColumns(), serviceCells),
	kind("", "ServiceAccount"):        of(nameAndAge(), serviceAccountCells),

	kind("admissionregistration.k8s.io", "MutatingAdmissionPolicy"):          of(mutatingPolicyColumns(), mutatingPolicyCells),
	kind("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"):   of(policyBindingColumns(), mutatingBindingCells),
	kind("admissionregistration.k8s.io", "MutatingWebhookConfiguration"):     of(webhookColumns(), mutatingWebhookCells),
	kind("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"):        of(validatingPolicyColumns(), validatingPolicyCells),
	kind("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"): of(policyBindingColumns(), validatingBindingCells),
	kind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"):   of(webhookColumns(), validatingWebhookCells),

	kind("apiextensions.k8s.io", "CustomResourceDefinition"): Default(),
	kind("apiregistration.k8s.io", "APIService"):             of(apiServiceColumns(), apiServiceCells),

	kind("apps", "ControllerRevision"): of(controllerRevisionColumns(), controllerRevisionCells),
	kind("apps", "DaemonSet"):          of(daemonSetColumns(), daemonSetCells),
	kind("apps", "Deployment"):         of(deploymentColumns(), deploymentCells),
	kind("apps", "ReplicaSet"):         of(replicaSetColumns(), replicaSetCells),
	kind("apps", "StatefulSet"):        of(statefulSetColumns(), statefulSetCells),

	kind("autoscaling", "HorizontalPodAutoscaler"): of(autoscalerColumns(), autoscalerCells),
	kind("autoscaling", "Scale"):                   of(scaleColumns(), scaleCells),

	kind("batch", "CronJob"): of(cronJobColumns(), cronJobCells),
	kind("batch", "Job"):     of(jobColumns(), jobCells),

	kind("certificates.k8s.io", "CertificateSigningRequest"): of(signingRequestColumns(), signingRequestCells),
	kind("coordination.k8s.io", "Lease"):                     of(leaseColumns(), leaseCells),
	kind("discovery.k8s.io", "EndpointSlice"):                of(endpointSliceColumns(), endpointSliceCells),
	kind("events.k8s.io", "Event"):                           of(eventColumns(), eventCells),

	kind("flowcontrol.apiserver.k8s.io", "FlowSchema"):                 flowSchemaTable(),
	kind("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"): of(priorityLevelColumns(), priorityLevelCells),

	kind("networking.k8s.io", "IPAddress"):     of(ipAddressColumns(), ipAddressCells),
	kind("networking.k8s.io", "Ingress"):       of(ingressColumns(), ingressCells),
	kind("networking.k8s.io", "IngressClass"):  of(ingressClassColumns(), ingressClassCells),
	kind("networking.k8s.io", "NetworkPolicy"): of(networkPolicyColumns(), networkPolicyCells),
	kind("networking.k8s.io", "ServiceCIDR"):   of(serviceCIDRColumns(), serviceCIDRCells),

	kind("node.k8s.io", "RuntimeClass"):   of(runtimeClassColumns(), runtimeClassCells),
	kind("policy", "PodDisruptionBudget"): of(disruptionBudgetColumns(), disruptionBudgetCells),

	kind("rbac.authorization.k8s.io", "ClusterRole"):        Default(),
	kind("rbac.authorization.k8s.io", "ClusterRoleBinding"): of(clusterRoleBindingColumns(), clusterRoleBindingCells),
	kind("rbac.authorization.k8s.io", "Role"):               Default(),
	kind("rbac.authorization.k8s.io", "RoleBinding"):        of(roleBindingColumns(), roleBindingCells),

	kind("resource.k8s.io", "DeviceClass"):           of(nameAndAge(), deviceClassCells),
	kind("resource.k8s.io", "ResourceClaim"):         of(resourceClaimColumns(), resourceClaimCells),
	kind("resource.k8s.io", "ResourceClaimTemplate"): of(nameAndAge(), resourceClaimTemplateCells),
	kind("resource.k8s.io", "ResourceSlice"):         of(resourceSliceColumns(), resourceSliceCells),

	kind("scheduling.k8s.io", "PriorityClass"): of(priorityClassColumns(), priorityClassCells),

	kind("storage.k8s.io", "CSIDriver"):             of(csiDriverColumns(), csiDriverCells),
	kind("storage.k8s.io", "CSINode"):               of(csiNodeColumns(), csiNodeCells),
	kind("storage.k8s.io", "CSIStorageCapacity"):    Default(),
	kind("storage.k8s.io", "StorageClass"):          of(storageClassColumns(), storageClassCells),
	kind("storage.k8s.io", "VolumeAttachment"):      of(attachmentColumns(), attachmentCells),
	kind("storage.k8s.io", "VolumeAttributesClass"): of(attributesClassColumns(), attributesClassCells),
}
