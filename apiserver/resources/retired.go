package resources

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// retired has the kinds in kube-apiserver's scheme of v1.37 that are not served here, by group version. Bodies may
// still have these kinds (K pkg/controlplane/import_known_versions.go, pkg/apis/*/install). Lists are omitted.
var retired = map[string]string{
	"admission.k8s.io/v1":                   "AdmissionReview",
	"admission.k8s.io/v1beta1":              "AdmissionReview",
	"admissionregistration.k8s.io/v1alpha1": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding",
	"admissionregistration.k8s.io/v1beta1":  "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
	"apps/v1beta1":                          "ControllerRevision Deployment DeploymentRollback Scale StatefulSet",
	"apps/v1beta2":                          "ControllerRevision DaemonSet Deployment ReplicaSet Scale StatefulSet",
	"authentication.k8s.io/v1alpha1":        "SelfSubjectReview",
	"authentication.k8s.io/v1beta1":         "SelfSubjectReview TokenReview",
	"authorization.k8s.io/v1beta1":          "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
	"batch/v1beta1":                         "CronJob",
	"certificates.k8s.io/v1alpha1":          "ClusterTrustBundle",
	"certificates.k8s.io/v1beta1":           "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
	"coordination.k8s.io/v1alpha2":          "LeaseCandidate",
	"coordination.k8s.io/v1beta1":           "Lease LeaseCandidate",
	"discovery.k8s.io/v1beta1":              "EndpointSlice",
	"events.k8s.io/v1beta1":                 "Event",
	"extensions/v1beta1":                    "DaemonSet Deployment DeploymentRollback Ingress NetworkPolicy ReplicaSet Scale",
	"flowcontrol.apiserver.k8s.io/v1beta1":  "FlowSchema PriorityLevelConfiguration",
	"flowcontrol.apiserver.k8s.io/v1beta2":  "FlowSchema PriorityLevelConfiguration",
	"flowcontrol.apiserver.k8s.io/v1beta3":  "FlowSchema PriorityLevelConfiguration",
	"imagepolicy.k8s.io/v1alpha1":           "ImageReview",
	"internal.apiserver.k8s.io/v1alpha1":    "StorageVersion",
	"lifecycle.k8s.io/v1alpha1":             "Eviction EvictionRequest",
	"networking.k8s.io/v1beta1":             "IPAddress Ingress IngressClass ServiceCIDR",
	"node.k8s.io/v1alpha1":                  "RuntimeClass",
	"node.k8s.io/v1beta1":                   "RuntimeClass",
	"policy/v1beta1":                        "Eviction PodDisruptionBudget",
	"rbac.authorization.k8s.io/v1alpha1":    "ClusterRole ClusterRoleBinding Role RoleBinding",
	"rbac.authorization.k8s.io/v1beta1":     "ClusterRole ClusterRoleBinding Role RoleBinding",
	"resource.k8s.io/v1alpha3":              "DeviceTaintRule ResourcePoolStatusRequest",
	"resource.k8s.io/v1beta1":               "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
	"resource.k8s.io/v1beta2":               "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice",
	"scheduling.k8s.io/v1alpha3":            "CompositePodGroup PodGroup Workload",
	"scheduling.k8s.io/v1beta1":             "PodGroup PriorityClass Workload",
	"storage.k8s.io/v1alpha1":               "CSIStorageCapacity VolumeAttachment VolumeAttributesClass",
	"storage.k8s.io/v1beta1":                "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
	"storagemigration.k8s.io/v1beta1":       "StorageVersionMigration",
}

// moved maps kinds to the group that has the same kind now (K pkg/apis/extensions/v1beta1, pkg/apis/apps/v1beta1 and
// v1beta2, pkg/apis/events: conversions).
var moved = map[schema.GroupKind]string{
	{Group: "extensions", Kind: "DaemonSet"}:          "apps",
	{Group: "extensions", Kind: "Deployment"}:         "apps",
	{Group: "extensions", Kind: "DeploymentRollback"}: "apps",
	{Group: "extensions", Kind: "ReplicaSet"}:         "apps",
	{Group: "extensions", Kind: "Ingress"}:            "networking.k8s.io",
	{Group: "extensions", Kind: "NetworkPolicy"}:      "networking.k8s.io",
	{Group: "extensions", Kind: "Scale"}:              "autoscaling",
	{Group: "apps", Kind: "Scale"}:                    "autoscaling",
	{Group: "events.k8s.io", Kind: "Event"}:           "",
}

// Same reports whether objects of two kinds can be converted to each other: they are versions of the same kind.
func Same(a, b schema.GroupKind) bool { return original(a) == original(b) }

func original(k schema.GroupKind) schema.GroupKind {
	if group, found := moved[k]; found {
		k.Group = group
	}
	return k
}

// Retired reports whether a kind is in kube-apiserver's scheme but not served.
func Retired(gvk schema.GroupVersionKind) bool {
	kind := strings.TrimSuffix(gvk.Kind, "List")
	names := strings.Fields(retired[gvk.GroupVersion().String()])
	return slices.Contains(names, kind) || slices.Contains(names, gvk.Kind)
}
