package resources

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

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
	s := protobuf.NewSerializer(Scheme(), Scheme())
	obj, gvk, err := s.Decode(value, nil, nil)
	if runtime.IsNotRegisteredError(err) && gvk != nil {
		if as, ok := sameMessage(*gvk); ok {
			obj, gvk, err = decodeAs(s, value, as)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("decoding protobuf: %w", err)
	}
	obj.GetObjectKind().SetGroupVersionKind(*gvk)
	return json.Marshal(obj)
}

// decodeAs decodes a value with the Go type of another version. The object has that version then.
func decodeAs(s *protobuf.Serializer, value []byte, as schema.GroupVersionKind) (
	runtime.Object, *schema.GroupVersionKind, error) {
	raw := &runtime.Unknown{}
	if _, _, err := s.Decode(value, nil, raw); err != nil {
		return nil, nil, err
	}
	obj, err := Scheme().New(as)
	if err != nil {
		return nil, nil, err
	}
	m, ok := obj.(interface{ Unmarshal([]byte) error })
	if !ok {
		return nil, nil, fmt.Errorf("%s has no protobuf", as)
	}
	return obj, &as, m.Unmarshal(raw.Raw)
}

// sameMessages are versions that older clusters have stored and that are no longer in the scheme here, with the version
// there whose protobuf message has all their fields under the same numbers and types. TestSameMessages compares them.
// Objects that were not written since an upgrade still have them: Kubernetes does not convert what is stored.
var sameMessages = map[string]struct{ kinds, version string }{
	"admissionregistration.k8s.io/v1alpha1": {"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding", "v1"},
	"admissionregistration.k8s.io/v1beta1": {
		"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration " +
			"MutatingWebhookConfiguration", "v1",
	},
	"apps/v1beta1":                         {"ControllerRevision", "v1"},
	"apps/v1beta2":                         {"ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", "v1"},
	"batch/v1beta1":                        {"CronJob", "v1"},
	"certificates.k8s.io/v1beta1":          {"CertificateSigningRequest", "v1"},
	"coordination.k8s.io/v1beta1":          {"Lease", "v1"},
	"events.k8s.io/v1beta1":                {"Event", "v1"},
	"flowcontrol.apiserver.k8s.io/v1beta1": {"FlowSchema PriorityLevelConfiguration", "v1"},
	"flowcontrol.apiserver.k8s.io/v1beta2": {"FlowSchema PriorityLevelConfiguration", "v1"},
	"flowcontrol.apiserver.k8s.io/v1beta3": {"FlowSchema PriorityLevelConfiguration", "v1"},
	"networking.k8s.io/v1beta1":            {"IngressClass", "v1"},
	"node.k8s.io/v1beta1":                  {"RuntimeClass", "v1"},
	"policy/v1beta1":                       {"PodDisruptionBudget", "v1"},
	"rbac.authorization.k8s.io/v1beta1":    {"ClusterRole ClusterRoleBinding Role RoleBinding", "v1"},
	"scheduling.k8s.io/v1beta1":            {"PriorityClass", "v1"},
	"storage.k8s.io/v1alpha1":              {"CSIStorageCapacity VolumeAttachment VolumeAttributesClass", "v1"},
	"storage.k8s.io/v1beta1": {
		"CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment", "v1",
	},
}

// sameMessage returns the kind by whose type a value of another version can be read.
func sameMessage(gvk schema.GroupVersionKind) (schema.GroupVersionKind, bool) {
	same := sameMessages[gvk.GroupVersion().String()]
	for kind := range strings.FieldsSeq(same.kinds) {
		if kind == gvk.Kind {
			return gvk.GroupKind().WithVersion(same.version), true
		}
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
