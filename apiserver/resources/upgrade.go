package resources

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// earlier describes a version whose objects are decoded as those of another version.
type earlier struct {
	as schema.GroupVersion
	// kinds are the version's kinds, separated by spaces.
	kinds string
}

// earlierVersions are the versions in which kube-apiserver v1.30 to v1.36 has stored kinds, and that are not in the
// scheme here. Each has the version whose type decodes its objects. The protobuf message of that type has all their
// fields with the same numbers and types, and the same names in JSON (TestEarlierVersionsHaveTheSameMessages).
// Kubernetes does not convert stored objects, so objects that were not written since an upgrade still have these
// versions.
var earlierVersions = map[string]earlier{
	"admissionregistration.k8s.io/v1beta1": {schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"},
		"ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"},
	"certificates.k8s.io/v1alpha1": {schema.GroupVersion{Group: "certificates.k8s.io", Version: "v1beta1"},
		"ClusterTrustBundle PodCertificateRequest"},
	"flowcontrol.apiserver.k8s.io/v1beta3": {flowcontrolv1.SchemeGroupVersion, "FlowSchema PriorityLevelConfiguration"},
	"networking.k8s.io/v1alpha1": {schema.GroupVersion{Group: "networking.k8s.io", Version: "v1"},
		"IPAddress ServiceCIDR"},
	"networking.k8s.io/v1beta1": {schema.GroupVersion{Group: "networking.k8s.io", Version: "v1"}, "IPAddress ServiceCIDR"},
	"resource.k8s.io/v1alpha3":  {schema.GroupVersion{Group: "resource.k8s.io", Version: "v1beta2"}, "DeviceTaintRule"},
	"storage.k8s.io/v1alpha1":   {schema.GroupVersion{Group: "storage.k8s.io", Version: "v1"}, "VolumeAttributesClass"},
	"storage.k8s.io/v1beta1":    {schema.GroupVersion{Group: "storage.k8s.io", Version: "v1"}, "VolumeAttributesClass"},
}

// decodedAs returns the kind whose type decodes an object of an earlier version.
func decodedAs(gvk schema.GroupVersionKind) (as schema.GroupVersionKind, ok bool) {
	e := earlierVersions[gvk.GroupVersion().String()]
	for kind := range strings.FieldsSeq(e.kinds) {
		if kind == gvk.Kind {
			return e.as.WithKind(kind), true
		}
	}
	return gvk, false
}

// Upgrade converts the JSON of a stored object to the version in which its kind is stored here. The object may have
// another served version, or an earlier one. It returns nil for all other objects. These include custom resources,
// whose versions are converted when they are read.
func Upgrade(apiVersion, kind string, value []byte) ([]byte, error) {
	convert := upgrades()[schema.FromAPIVersionAndKind(apiVersion, kind)]
	if convert == nil {
		return nil, nil
	}
	obj, err := convert(value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(obj)
}

// upgrade decodes the JSON of an object and converts it to the stored version.
type upgrade func(value []byte) (runtime.Object, error)

// upgrades returns the conversions by kind and version.
var upgrades = sync.OnceValue(func() map[schema.GroupVersionKind]upgrade {
	all := map[schema.GroupVersionKind]upgrade{}
	for _, r := range Every(nil) {
		if w := r.Written; w != nil {
			all[w.Kind] = func(value []byte) (runtime.Object, error) {
				obj, err := decodeJSON(w.Kind, value)
				if err != nil {
					return nil, err
				}
				return w.From(obj)
			}
		}
	}
	for _, r := range Every(nil) {
		if r.ToStored != nil && !r.Custom && r.GroupVersionKind() != r.Stored {
			all[r.GroupVersionKind()] = func(value []byte) (runtime.Object, error) { return upgradeServed(r, value) }
		}
	}
	for apiVersion, e := range earlierVersions {
		for kind := range strings.FieldsSeq(e.kinds) {
			all[schema.FromAPIVersionAndKind(apiVersion, kind)] = func(value []byte) (runtime.Object, error) {
				obj, err := decodeJSON(e.as.WithKind(kind), value)
				return withoutMarks(obj), err
			}
		}
	}
	return all
})

// upgradeServed converts an object of a served version.
func upgradeServed(r *Resource, value []byte) (runtime.Object, error) {
	obj, err := r.Decode(value)
	if err != nil {
		return nil, err
	}
	if obj, err = r.ToStored(obj); err != nil {
		return nil, err
	}
	return entry.Typed(obj, r.Stored), nil
}

// decodeJSON decodes an object as one of another version.
func decodeJSON(as schema.GroupVersionKind, value []byte) (runtime.Object, error) {
	obj, err := Scheme().New(as)
	if err != nil {
		return nil, err
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(value, obj); err != nil {
		return nil, err
	}
	return entry.Typed(obj, as), nil
}

// decodeProtobuf decodes an object of an earlier version as one of another version.
func decodeProtobuf(s *protobuf.Serializer, as schema.GroupVersionKind, value []byte) (runtime.Object, error) {
	raw := &runtime.Unknown{}
	if _, _, err := s.Decode(value, nil, raw); err != nil {
		return nil, err
	}
	obj, err := Scheme().New(as)
	if err != nil {
		return nil, err
	}
	m, ok := obj.(interface{ Unmarshal([]byte) error })
	if !ok {
		return nil, fmt.Errorf("%s has no protobuf", as)
	}
	if err := m.Unmarshal(raw.Raw); err != nil {
		return nil, err
	}
	return withoutMarks(obj), nil
}

// withoutMarks removes the annotation by which flowcontrol.apiserver.k8s.io/v1beta3 distinguishes 0 shares from none (K
// pkg/apis/flowcontrol/v1beta3/conversion.go).
func withoutMarks(obj runtime.Object) runtime.Object {
	if l, ok := obj.(*flowcontrolv1.PriorityLevelConfiguration); ok {
		delete(l.Annotations, "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares")
	}
	return obj
}
