package prepare

import (
	"maps"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Kind is what differs between kinds. Every func may be nil; objects are pointers to the Go type
// of the kind's version v1 (v2 for HorizontalPodAutoscaler).
type Kind struct {
	// OwnStatus says that Create and Update decide what becomes of the status, so that it is
	// neither emptied nor kept before they are called.
	OwnStatus bool
	// Create sets what a new object begins with. It has its name, uid and creation time already.
	Create func(obj runtime.Object)
	// Update restores what PUT and PATCH of the object itself may not change.
	Update func(obj, old runtime.Object)
	// Status restores what a write to /status may not change, besides spec (B-41).
	Status func(obj, old runtime.Object)
	// Parts do the same for the other subresources that are an update of the object, by name. They
	// get all that the client sent, status and spec too, and restore what isn't theirs.
	Parts map[string]func(obj, old runtime.Object)

	// Early returns the warnings that are lost once Create has run; it is called before.
	Early func(obj runtime.Object) []string
	// Warnings returns the texts of Warning headers; old is nil on create. It is called after
	// Create or Update, and after metadata.generation has been counted.
	Warnings func(obj, old runtime.Object) []string
	// StatusWarnings are those of a write to /status.
	StatusWarnings func(obj, old runtime.Object) []string
}

// For returns what differs for a kind, on the system's clock; nothing does for kinds it doesn't
// know.
func For(gk schema.GroupKind) Kind { return system()[gk] }

var system = sync.OnceValue(func() map[schema.GroupKind]Kind { return Table(time.Now) })

// Table lists the kinds that differ in anything, by now's clock.
func Table(now func() time.Time) map[schema.GroupKind]Kind {
	at := clock(func() metav1.Time { return metav1.NewTime(now()).Rfc3339Copy() })
	all := maps.Clone(timeless)
	all[gk(corev1.GroupName, "PersistentVolume")] = Kind{
		Create: create(createVolume), Status: change(at.volumeStatus), Warnings: warn(volumeWarnings)}
	all[gk(apiregistrationv1.GroupName, "APIService")] = Kind{
		Create: create(at.createAPIService), Status: change(apiServiceStatus)}
	all[gk(certificatesv1.GroupName, "CertificateSigningRequest")] = Kind{
		Create: create(createRequest), Update: change(updateRequest), Status: change(at.requestStatus),
		Parts: parts{"approval": change(at.approveRequest)}}
	return all
}

// timeless are the kinds that need no clock after their creation; Table has the others.
//
// Kinds of discovery that are in neither need nothing: Binding, ComponentStatus, ConfigMap, Event,
// ResourceQuota, ControllerRevision, HorizontalPodAutoscaler, IngressClass, IPAddress,
// PodDisruptionBudget, the RBAC kinds, CSINode, VolumeAttributesClass, the webhook configurations,
// MutatingAdmissionPolicy, the policy bindings, PriorityClass, DeviceClass, ResourceClaimTemplate
// and the reviews.
var timeless = map[schema.GroupKind]Kind{
	gk(corev1.GroupName, "Endpoints"):  {Warnings: warn(endpointsWarnings)},
	gk(corev1.GroupName, "LimitRange"): {Create: create(nameLimitRange)},
	gk(corev1.GroupName, "Namespace"): {
		Create: create(createNamespace), Update: change(updateNamespace),
		Parts: parts{"finalize": change(finalizeNamespace)}},
	gk(corev1.GroupName, "Node"): {
		OwnStatus: true, Create: create(createNode), Update: change(updateNode),
		Status: change(nodeStatus), Warnings: warn(nodeWarnings)},
	gk(corev1.GroupName, "PersistentVolumeClaim"): {
		Create: create(createClaim), Update: change(updateClaim), Warnings: warn(claimWarnings)},
	gk(corev1.GroupName, "Pod"): {
		Create: create(createPod), Update: change(updatePod), Status: change(podStatus),
		Parts: parts{"ephemeralcontainers": change(ephemeralContainers), "resize": change(resizePod)},
		Early: early(appArmorWarnings), Warnings: warn(podWarnings), StatusWarnings: warn(podStatusWarnings)},
	gk(corev1.GroupName, "PodTemplate"): {
		Create: create(createPodTemplate), Update: change(updatePodTemplate), Warnings: warn(podTemplateWarnings)},
	gk(corev1.GroupName, "ReplicationController"): {
		Create: create(createController), Update: change(updateController), Warnings: warn(controllerWarnings)},
	gk(corev1.GroupName, "Secret"): {Warnings: warn(secretWarnings)},
	gk(corev1.GroupName, "Service"): {
		Create: create(createService), Update: change(updateService),
		Warnings: warn(serviceWarnings), StatusWarnings: warn(serviceStatusWarnings)},
	gk(corev1.GroupName, "ServiceAccount"): {
		Create: create(nameSecrets), Update: change(updateServiceAccount), Warnings: warn(serviceAccountWarnings)},

	gk(appsv1.GroupName, "DaemonSet"): {
		Create: create(createDaemonSet), Update: change(updateDaemonSet), Status: change(daemonSetStatus),
		Warnings: warn(daemonSetWarnings)},
	gk(appsv1.GroupName, "Deployment"): {
		Create: create(createDeployment), Update: change(updateDeployment), Status: change(deploymentStatus),
		Warnings: warn(deploymentWarnings)},
	gk(appsv1.GroupName, "ReplicaSet"): {
		Create: create(createReplicaSet), Update: change(updateReplicaSet), Warnings: warn(replicaSetWarnings)},
	gk(appsv1.GroupName, "StatefulSet"): {
		Create: create(createStatefulSet), Update: change(updateStatefulSet), Warnings: warn(statefulSetWarnings)},

	gk(batchv1.GroupName, "CronJob"): {
		Create: create(createCronJob), Update: change(updateCronJob), Warnings: warn(cronJobWarnings)},
	gk(batchv1.GroupName, "Job"): {
		Create: create(createJob), Update: change(updateJob), Warnings: warn(jobWarnings)},

	gk(networkingv1.GroupName, "Ingress"): {
		Warnings: warn(ingressWarnings), StatusWarnings: warn(ingressStatusWarnings)},
	gk(networkingv1.GroupName, "NetworkPolicy"): {Warnings: warn(networkPolicyWarnings)},
	gk(networkingv1.GroupName, "ServiceCIDR"):   {Status: change(metaKept[*networkingv1.ServiceCIDR])},

	gk(storagev1.GroupName, "CSIDriver"):          {Create: create(createDriver), Update: change(updateDriver)},
	gk(storagev1.GroupName, "CSIStorageCapacity"): {Warnings: warn(capacityWarnings)},
	gk(storagev1.GroupName, "StorageClass"):       {Warnings: warn(storageClassWarnings)},
	gk(storagev1.GroupName, "VolumeAttachment"):   {Status: change(metaKept[*storagev1.VolumeAttachment])},

	gk(admissionv1.GroupName, "ValidatingAdmissionPolicy"): {
		Status: change(metaKept[*admissionv1.ValidatingAdmissionPolicy])},

	gk(apiextensionsv1.GroupName, "CustomResourceDefinition"): {
		Create: create(createDefinition), Update: change(updateDefinition), Warnings: warn(definitionWarnings)},

	gk(coordinationv1.GroupName, "Lease"): {Create: create(createLease), Update: change(updateLease)},

	gk(nodev1.GroupName, "RuntimeClass"): {Warnings: warn(runtimeClassWarnings)},

	gk(discoveryv1.GroupName, "EndpointSlice"): {
		Create: create(createSlice), Update: change(updateSlice), Warnings: warn(sliceWarnings)},

	gk(resourcev1.GroupName, "ResourceClaim"): {Status: change(deviceStatus)},
	gk(resourcev1.GroupName, "ResourceSlice"): {Create: create(createDevices), Update: change(updateDevices)},

	gk(flowcontrolv1.GroupName, "FlowSchema"):                 {Status: change(schemaStatus)},
	gk(flowcontrolv1.GroupName, "PriorityLevelConfiguration"): {Status: change(levelStatus)},
}

type parts = map[string]func(obj, old runtime.Object)

// clock tells the time to the second, as API objects do.
type clock func() metav1.Time

func gk(group, kind string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: kind} }

// create, change, early and warn hide a kind's type.
func create[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(obj runtime.Object) {
		if o, ok := obj.(T); ok {
			f(o)
		}
	}
}

func change[T runtime.Object](f func(obj, old T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		o, ok := obj.(T)
		if was, both := old.(T); ok && both {
			f(o, was)
		}
	}
}

func early[T runtime.Object](f func(T) []string) func(runtime.Object) []string {
	return func(obj runtime.Object) []string {
		if o, ok := obj.(T); ok {
			return f(o)
		}
		return nil
	}
}

// warn passes a nil T for an object that is new.
func warn[T runtime.Object](f func(obj, old T) []string) func(obj, old runtime.Object) []string {
	return func(obj, old runtime.Object) []string {
		o, ok := obj.(T)
		if !ok {
			return nil
		}
		was, _ := old.(T)
		return f(o, was)
	}
}

// metaKept is for writes to /status that change no metadata but managed fields.
func metaKept[T metav1.Object](obj, old T) { metav1.ResetObjectMetaForStatus(obj, old) }
