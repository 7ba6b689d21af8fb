package workload

import (
	"reflect"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/controllers/reconcile"
)

// Object is any API object.
type Object interface {
	metav1.Object
	runtime.Object
}

// Resource is a type that controllers read or write, in its storage version, or in a version that has the same fields.
// Two with the same Plural and Group are the same.
type Resource struct {
	Group, Version, Plural, Kind string
	// Sparse reports whether objects are read by their names only, because controllers need few of many, or they are
	// large. They are not indexed: Get decodes the stored object at each call, and other reads panic.
	Sparse bool
	// Late reports whether changes may arrive 50 ms late, because most are of objects that no controller needs.
	Late bool
	// of is the Go type, a pointer.
	of reflect.Type
}

// About names an object of the resource.
func (r Resource) About(key Key) reconcile.Object {
	return reconcile.Object{
		Group: r.Group, Version: r.Version, Resource: r.Plural, Kind: r.Kind, Namespace: key.Namespace, Name: key.Name,
	}
}

func resource[T Object](gv schema.GroupVersion, plural, kind string) Resource {
	return Resource{Group: gv.Group, Version: gv.Version, Plural: plural, Kind: kind, of: reflect.TypeFor[T]()}
}

func sparse(r Resource, late bool) Resource {
	r.Sparse, r.Late = true, late
	return r
}

// The resources that controllers read or write.
var (
	Pods            = resource[*corev1.Pod](corev1.SchemeGroupVersion, "pods", "Pod")
	Nodes           = resource[*corev1.Node](corev1.SchemeGroupVersion, "nodes", "Node")
	Namespaces      = resource[*corev1.Namespace](corev1.SchemeGroupVersion, "namespaces", "Namespace")
	ServiceAccounts = sparse(resource[*corev1.ServiceAccount](
		corev1.SchemeGroupVersion, "serviceaccounts", "ServiceAccount",
	), true)
	ConfigMaps = sparse(resource[*corev1.ConfigMap](corev1.SchemeGroupVersion, "configmaps", "ConfigMap"), true)
	Services   = resource[*corev1.Service](corev1.SchemeGroupVersion, "services", "Service")
	Endpoints  = resource[*corev1.Endpoints]( //nolint:staticcheck // still served
		corev1.SchemeGroupVersion, "endpoints", "Endpoints",
	)
	Claims = resource[*corev1.PersistentVolumeClaim](
		corev1.SchemeGroupVersion, "persistentvolumeclaims", "PersistentVolumeClaim",
	)
	Volumes = resource[*corev1.PersistentVolume](
		corev1.SchemeGroupVersion, "persistentvolumes", "PersistentVolume",
	)
	StorageClasses = resource[*storagev1.StorageClass](
		storagev1.SchemeGroupVersion, "storageclasses", "StorageClass",
	)
	AttributesClasses = resource[*storagev1.VolumeAttributesClass](
		storagev1.SchemeGroupVersion, "volumeattributesclasses", "VolumeAttributesClass",
	)
	ReplicationControllers = resource[*corev1.ReplicationController](
		corev1.SchemeGroupVersion, "replicationcontrollers", "ReplicationController",
	)
	ReplicaSets  = resource[*appsv1.ReplicaSet](appsv1.SchemeGroupVersion, "replicasets", "ReplicaSet")
	Deployments  = resource[*appsv1.Deployment](appsv1.SchemeGroupVersion, "deployments", "Deployment")
	StatefulSets = resource[*appsv1.StatefulSet](appsv1.SchemeGroupVersion, "statefulsets", "StatefulSet")
	DaemonSets   = resource[*appsv1.DaemonSet](appsv1.SchemeGroupVersion, "daemonsets", "DaemonSet")
	Revisions    = resource[*appsv1.ControllerRevision](
		appsv1.SchemeGroupVersion, "controllerrevisions", "ControllerRevision",
	)
	Jobs           = resource[*batchv1.Job](batchv1.SchemeGroupVersion, "jobs", "Job")
	CronJobs       = resource[*batchv1.CronJob](batchv1.SchemeGroupVersion, "cronjobs", "CronJob")
	Leases         = resource[*coordinationv1.Lease](coordinationv1.SchemeGroupVersion, "leases", "Lease")
	EndpointSlices = resource[*discoveryv1.EndpointSlice](
		discoveryv1.SchemeGroupVersion, "endpointslices", "EndpointSlice",
	)
	ServiceCIDRs = resource[*networkingv1.ServiceCIDR](
		networkingv1.SchemeGroupVersion, "servicecidrs", "ServiceCIDR",
	)
	IPAddresses = resource[*networkingv1.IPAddress](
		networkingv1.SchemeGroupVersion, "ipaddresses", "IPAddress",
	)
	DisruptionBudgets = resource[*policyv1.PodDisruptionBudget](
		policyv1.SchemeGroupVersion, "poddisruptionbudgets", "PodDisruptionBudget",
	)
	CertificateSigningRequests = resource[*certificatesv1.CertificateSigningRequest](
		certificatesv1.SchemeGroupVersion, "certificatesigningrequests", "CertificateSigningRequest",
	)
	PodCertificateRequests = resource[*certificatesv1.PodCertificateRequest](
		certificatesv1.SchemeGroupVersion, "podcertificaterequests", "PodCertificateRequest",
	)
	ClusterTrustBundles = resource[*certificatesv1.ClusterTrustBundle](
		certificatesv1.SchemeGroupVersion, "clustertrustbundles", "ClusterTrustBundle",
	)
	ResourceClaims = resource[*resourcev1.ResourceClaim](
		resourcev1.SchemeGroupVersion, "resourceclaims", "ResourceClaim",
	)
	ResourceSlices = resource[*resourcev1.ResourceSlice](
		resourcev1.SchemeGroupVersion, "resourceslices", "ResourceSlice",
	)
	TaintRules = resource[*resourcev1.DeviceTaintRule](
		resourcev1.SchemeGroupVersion, "devicetaintrules", "DeviceTaintRule",
	)
	Autoscalers = resource[*autoscalingv2.HorizontalPodAutoscaler](
		autoscalingv2.SchemeGroupVersion, "horizontalpodautoscalers", "HorizontalPodAutoscaler",
	)
	FlowSchemas = resource[*flowcontrolv1.FlowSchema](
		flowcontrolv1.SchemeGroupVersion, "flowschemas", "FlowSchema",
	)
	PriorityLevels = resource[*flowcontrolv1.PriorityLevelConfiguration](
		flowcontrolv1.SchemeGroupVersion, "prioritylevelconfigurations", "PriorityLevelConfiguration",
	)
	APIServices = resource[*apiregistrationv1.APIService](
		apiregistrationv1.SchemeGroupVersion, "apiservices", "APIService",
	)
	// CustomResourceDefinitions may be large, and few are read whole.
	CustomResourceDefinitions = sparse(resource[*apiextensionsv1.CustomResourceDefinition](
		apiextensionsv1.SchemeGroupVersion, "customresourcedefinitions", "CustomResourceDefinition",
	), false)
	ClusterRoles = resource[*rbacv1.ClusterRole](rbacv1.SchemeGroupVersion, "clusterroles", "ClusterRole")
	Policies     = resource[*admissionv1.ValidatingAdmissionPolicy](
		admissionv1.SchemeGroupVersion, "validatingadmissionpolicies", "ValidatingAdmissionPolicy",
	)
)

// resources are all of them.
var resources = []Resource{Pods, Nodes, Services, Endpoints, Claims, ReplicationControllers, ReplicaSets, Deployments,
	StatefulSets,
	DaemonSets, Revisions, Jobs, CronJobs, EndpointSlices, DisruptionBudgets, Autoscalers,
	CertificateSigningRequests, PodCertificateRequests, ClusterTrustBundles, ResourceClaims, ResourceSlices, TaintRules,
	Volumes, StorageClasses, Leases, Namespaces, ServiceAccounts, ConfigMaps, AttributesClasses, ClusterRoles, Policies,
	FlowSchemas, PriorityLevels, APIServices, CustomResourceDefinitions, ServiceCIDRs, IPAddresses}

// Resources returns all resources of this package.
func Resources() []Resource { return append([]Resource(nil), resources...) }

// Of returns the resource of the object, by its Go type. It panics if there is none.
func Of(o Object) Resource {
	t := reflect.TypeOf(o)
	for _, r := range resources {
		if r.of == t {
			return r
		}
	}
	panic("workload: " + t.String() + " is none of Resources")
}

// New returns an empty object of the resource.
func (r Resource) New() Object { return reflect.New(r.of.Elem()).Interface().(Object) }

// APIVersion is that of the resource's objects.
func (r Resource) APIVersion() string { return r.groupVersion().String() }

func (r Resource) groupVersion() schema.GroupVersion {
	return schema.GroupVersion{Group: r.Group, Version: r.Version}
}

// GroupVersionKind is that of the resource's objects.
func (r Resource) GroupVersionKind() schema.GroupVersionKind {
	return r.groupVersion().WithKind(r.Kind)
}

// String returns the plural and the group, as kubectl names a resource.
func (r Resource) String() string {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}.String()
}
