package resources

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	networkingv1 "k8s.io/api/networking/v1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubecascade/kubecascade/storage"
)

// cborTag begins values in CBOR (AM pkg/runtime/serializer/cbor/cbor.go: selfDescribedCBOR).
var cborTag = []byte("\xd9\xd9\xf7")

// Transcode converts kube-apiserver's storage formats protobuf, for kinds with a Go type here, and CBOR, for any kind,
// to its JSON storage format.
func Transcode(value []byte) ([]byte, error) {
	if bytes.HasPrefix(value, cborTag) {
		var object map[string]any
		if err := direct.Unmarshal(value, &object); err != nil {
			return nil, fmt.Errorf("decoding CBOR: %w", err)
		}
		return json.Marshal(object)
	}
	if nesting(value, maxNesting) >= maxNesting {
		return nil, fmt.Errorf("decoding protobuf: it is nested %d levels deep", maxNesting)
	}
	s := protobuf.NewSerializer(Scheme(), Scheme())
	obj, gvk, err := s.Decode(value, nil, nil)
	if runtime.IsNotRegisteredError(err) && gvk != nil {
		if as, ok := sameMessage(*gvk); ok {
			obj, gvk, err = decodeAs(s, value, *gvk, as)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("decoding protobuf: %w", err)
	}
	obj.GetObjectKind().SetGroupVersionKind(*gvk)
	return json.Marshal(obj)
}

// maxNesting is the depth from which on a value in protobuf is rejected: the decoders recurse, and a stack that
// overflows ends the process. Schemas of CustomResourceDefinitions alone can be nested so deep. JSON and CBOR have
// limits of their own.
const maxNesting = 1000

// nesting is how deep messages are nested in the value, at most most. What could be a message counts as one: the
// value's type isn't known yet.
func nesting(value []byte, most int) (depth int) {
	if most == 0 {
		return 0
	}
	value, _ = bytes.CutPrefix(value, []byte("k8s\x00"))
	for len(value) > 0 && depth < most {
		number, kind, n := protowire.ConsumeTag(value)
		if n < 0 {
			return 0
		}
		value = value[n:]
		if kind == protowire.BytesType {
			part, n := protowire.ConsumeBytes(value)
			if n < 0 {
				return 0
			}
			depth = max(depth, 1+nesting(part, most-1))
			value = value[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(number, kind, value); n < 0 {
			return 0
		}
		value = value[n:]
	}
	return depth
}

// olderVersion are kinds of a version whose messages another version has, too.
type olderVersion struct {
	// kinds are separated by spaces.
	kinds string
	as    schema.GroupVersion
}

func sameAs(group, version, kinds string) olderVersion {
	return olderVersion{kinds, schema.GroupVersion{Group: group, Version: version}}
}

// sameMessages are versions that older clusters have stored and that are no longer in the scheme here, with the version
// there whose protobuf message has all their fields under the same numbers and types, and the same names in JSON.
// TestSameMessages compares them; renumber and amend do what is left. Objects that were not written since an upgrade
// still have them: Kubernetes does not convert what is stored. JSON of Upgrade's own conversions is not the same.
var sameMessages = map[string]olderVersion{
	"admissionregistration.k8s.io/v1alpha1": sameAs("admissionregistration.k8s.io", "v1",
		"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"),
	"admissionregistration.k8s.io/v1beta1": sameAs("admissionregistration.k8s.io", "v1",
		"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration "+
			"MutatingWebhookConfiguration"),
	"apiregistration.k8s.io/v1beta1": sameAs("apiregistration.k8s.io", "v1", "APIService"),
	"apps/v1beta1":                   sameAs("apps", "v1", "ControllerRevision Deployment StatefulSet"),
	"apps/v1beta2": sameAs("apps", "v1",
		"ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"),
	"autoscaling/v2beta2": sameAs("autoscaling", "v2", "HorizontalPodAutoscaler"),
	"batch/v1beta1":       sameAs("batch", "v1", "CronJob"),
	"batch/v2alpha1":      sameAs("batch", "v1", "CronJob"),
	"certificates.k8s.io/v1alpha1": sameAs("certificates.k8s.io", "v1beta1",
		"ClusterTrustBundle PodCertificateRequest"),
	"certificates.k8s.io/v1beta1":          sameAs("certificates.k8s.io", "v1", "CertificateSigningRequest"),
	"coordination.k8s.io/v1beta1":          sameAs("coordination.k8s.io", "v1", "Lease"),
	"events.k8s.io/v1beta1":                sameAs("events.k8s.io", "v1", "Event"),
	"extensions/v1beta1":                   sameAs("apps", "v1", "DaemonSet Deployment ReplicaSet"),
	"flowcontrol.apiserver.k8s.io/v1beta1": flowPriorities,
	"flowcontrol.apiserver.k8s.io/v1beta2": flowPriorities,
	"flowcontrol.apiserver.k8s.io/v1beta3": flowPriorities,
	"networking.k8s.io/v1alpha1":           sameAs("networking.k8s.io", "v1", "IPAddress ServiceCIDR"),
	"networking.k8s.io/v1beta1":            sameAs("networking.k8s.io", "v1", "IngressClass IPAddress ServiceCIDR"),
	"node.k8s.io/v1beta1":                  sameAs("node.k8s.io", "v1", "RuntimeClass"),
	"policy/v1beta1":                       sameAs("policy", "v1", "PodDisruptionBudget"),
	rolesV1alpha1:                          roles,
	"rbac.authorization.k8s.io/v1beta1":    roles,
	"resource.k8s.io/v1alpha3":             sameAs("resource.k8s.io", "v1beta2", "DeviceTaintRule"),
	"scheduling.k8s.io/v1alpha1":           sameAs("scheduling.k8s.io", "v1", "PriorityClass"),
	"scheduling.k8s.io/v1beta1":            sameAs("scheduling.k8s.io", "v1", "PriorityClass"),
	"storage.k8s.io/v1alpha1": sameAs("storage.k8s.io", "v1",
		"CSIStorageCapacity VolumeAttachment VolumeAttributesClass"),
	"storage.k8s.io/v1beta1": sameAs("storage.k8s.io", "v1",
		"CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass"),
}

var roles = sameAs("rbac.authorization.k8s.io", "v1", "ClusterRole ClusterRoleBinding Role RoleBinding")

var flowPriorities = sameAs("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema PriorityLevelConfiguration")

// extensions are kinds of extensions/v1beta1 that moved to a group other than apps.
var extensions = map[string]schema.GroupVersion{
	"Ingress": networkingv1beta1.SchemeGroupVersion, "NetworkPolicy": networkingv1.SchemeGroupVersion,
}

// sameMessage returns the kind by whose type a value of another version can be read.
func sameMessage(gvk schema.GroupVersionKind) (schema.GroupVersionKind, bool) {
	same := sameMessages[gvk.GroupVersion().String()]
	for kind := range strings.FieldsSeq(same.kinds) {
		if kind == gvk.Kind {
			return same.as.WithKind(kind), true
		}
	}
	if as, ok := extensions[gvk.Kind]; ok && gvk.Group == "extensions" {
		return as.WithKind(gvk.Kind), true
	}
	if gvk == runtimeClassV1alpha1 {
		return nodev1.SchemeGroupVersion.WithKind(gvk.Kind), true
	}
	return gvk, false
}

// SelectableFields are the paths of a collection's selectable fields (storage.Decoder). Those of custom resources may
// change and differ between versions, so they are read when they are needed.
func (t *Types) SelectableFields(collection string) []storage.FieldPath {
	if r := t.Collection(collection); r != nil && !r.Custom {
		return r.Fields
	}
	return nil
}
