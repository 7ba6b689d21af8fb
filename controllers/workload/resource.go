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
	"k8s.io/apimachinery/pkg/api/meta"
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
	// Sparse reports whether objects are read only by their names, because controllers need few of many objects, or
	// objects are large. They are not indexed: Get decodes the stored object at each call, and other methods panic.
	Sparse bool
	// of is the Go type, a pointer.
	of reflect.Type
}

// About names an object of the resource.
func (r Resource) About(key Key) reconcile.Object {
	return reconcile.Object{
		Group: r.Group, Version: r.Version, Resource: r.Plural, Kind: r.Kind, Namespace: key.Namespace, Name: key.Name,
	}
}

// resource returns the Resource of a Go type, whose name is that of its kind.
func resource[T Object](gv schema.GroupVersion) Resource {
	of := reflect.TypeFor[T]()
	plural, _ := meta.UnsafeGuessKindToResource(gv.WithKind(of.Elem().Name()))
	return Resource{Group: gv.Group, Version: gv.Version, Plural: plural.Resource, Kind: of.Elem().Name(), of: of}
}

func sparse(r Resource) Resource {
	r.Sparse = true
	return r
}

// The resources that controllers read or write.
var (
	Pods                       = resource[*corev1.Pod](corev1.SchemeGroupVersion)
	Nodes                      = resource[*corev1.Node](corev1.SchemeGroupVersion)
	Namespaces                 = resource[*corev1.Namespace](corev1.SchemeGroupVersion)
	ServiceAccounts            = sparse(resource[*corev1.ServiceAccount](corev1.SchemeGroupVersion))
	ConfigMaps                 = sparse(resource[*corev1.ConfigMap](corev1.SchemeGroupVersion))
	Services                   = resource[*corev1.Service](corev1.SchemeGroupVersion)
	Endpoints                  = resource[*corev1.Endpoints](corev1.SchemeGroupVersion)
	Claims                     = resource[*corev1.PersistentVolumeClaim](corev1.SchemeGroupVersion)
	Volumes                    = resource[*corev1.PersistentVolume](corev1.SchemeGroupVersion)
	StorageClasses             = resource[*storagev1.StorageClass](storagev1.SchemeGroupVersion)
	AttributesClasses          = resource[*storagev1.VolumeAttributesClass](storagev1.SchemeGroupVersion)
	ReplicationControllers     = resource[*corev1.ReplicationController](corev1.SchemeGroupVersion)
	ReplicaSets                = resource[*appsv1.ReplicaSet](appsv1.SchemeGroupVersion)
	Deployments                = resource[*appsv1.Deployment](appsv1.SchemeGroupVersion)
	StatefulSets               = resource[*appsv1.StatefulSet](appsv1.SchemeGroupVersion)
	DaemonSets                 = resource[*appsv1.DaemonSet](appsv1.SchemeGroupVersion)
	Revisions                  = resource[*appsv1.ControllerRevision](appsv1.SchemeGroupVersion)
	Jobs                       = resource[*batchv1.Job](batchv1.SchemeGroupVersion)
	CronJobs                   = resource[*batchv1.CronJob](batchv1.SchemeGroupVersion)
	Leases                     = resource[*coordinationv1.Lease](coordinationv1.SchemeGroupVersion)
	EndpointSlices             = resource[*discoveryv1.EndpointSlice](discoveryv1.SchemeGroupVersion)
	ServiceCIDRs               = resource[*networkingv1.ServiceCIDR](networkingv1.SchemeGroupVersion)
	IPAddresses                = resource[*networkingv1.IPAddress](networkingv1.SchemeGroupVersion)
	DisruptionBudgets          = resource[*policyv1.PodDisruptionBudget](policyv1.SchemeGroupVersion)
	CertificateSigningRequests = resource[*certificatesv1.CertificateSigningRequest](certificatesv1.SchemeGroupVersion)
	PodCertificateRequests     = resource[*certificatesv1.PodCertificateRequest](certificatesv1.SchemeGroupVersion)
	ClusterTrustBundles        = resource[*certificatesv1.ClusterTrustBundle](certificatesv1.SchemeGroupVersion)
	ResourceClaims             = resource[*resourcev1.ResourceClaim](resourcev1.SchemeGroupVersion)
	ResourceSlices             = resource[*resourcev1.ResourceSlice](resourcev1.SchemeGroupVersion)
	TaintRules                 = resource[*resourcev1.DeviceTaintRule](resourcev1.SchemeGroupVersion)
	Autoscalers                = resource[*autoscalingv2.HorizontalPodAutoscaler](autoscalingv2.SchemeGroupVersion)
	FlowSchemas                = resource[*flowcontrolv1.FlowSchema](flowcontrolv1.SchemeGroupVersion)
	PriorityLevels             = resource[*flowcontrolv1.PriorityLevelConfiguration](flowcontrolv1.SchemeGroupVersion)
	APIServices                = resource[*apiregistrationv1.APIService](apiregistrationv1.SchemeGroupVersion)
	// CustomResourceDefinitions may be large, and few are read whole.
	CustomResourceDefinitions = sparse(
		resource[*apiextensionsv1.CustomResourceDefinition](apiextensionsv1.SchemeGroupVersion))
	ClusterRoles = resource[*rbacv1.ClusterRole](rbacv1.SchemeGroupVersion)
	Policies     = resource[*admissionv1.ValidatingAdmissionPolicy](admissionv1.SchemeGroupVersion)
)

// resources has all of them.
var resources = []Resource{Pods, Nodes, Services, Endpoints, Claims, ReplicationControllers, ReplicaSets, Deployments,
	StatefulSets, DaemonSets, Revisions, Jobs, CronJobs, EndpointSlices, DisruptionBudgets, Autoscalers,
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

// APIVersion returns the apiVersion of the resource's objects.
func (r Resource) APIVersion() string { return r.GroupVersionKind().GroupVersion().String() }

// GroupVersionKind returns the group, version and kind of the resource's objects.
func (r Resource) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind}
}

// String returns the plural and the group, as kubectl names a resource.
func (r Resource) String() string {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}.String()
}
