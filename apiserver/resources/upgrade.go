package resources

import (
	"encoding/json"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	discoveryv1beta1 "k8s.io/api/discovery/v1beta1"
	networkingv1 "k8s.io/api/networking/v1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	kjson "sigs.k8s.io/json"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
)

// Upgrade converts the JSON of a stored object to the version in which its kind is stored here, if it has another one
// that can be converted: a version that is served, or one that other releases have stored. It returns nil for all other
// objects, among them custom resources, whose versions are converted when they are read.
func Upgrade(apiVersion, kind string, value []byte) ([]byte, error) {
	kinds := upgrades()[apiVersion]
	if kinds == nil || kinds[kind] == nil {
		return nil, nil
	}
	obj, err := kinds[kind](value)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	// Events of events.k8s.io/v1beta1 are those of v1, which are stored in the core group.
	apiVersion, kind = obj.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	if again, err := Upgrade(apiVersion, kind, data); err != nil || again != nil {
		return again, err
	}
	return data, nil
}

// upgrade decodes the JSON of an object and converts it to the stored version.
type upgrade func(value []byte) (runtime.Object, error)

// upgrades are the conversions by apiVersion and kind.
var upgrades = sync.OnceValue(func() map[string]map[string]upgrade {
	all := map[string]map[string]upgrade{}
	add := func(apiVersion, kind string, u upgrade) {
		if all[apiVersion] == nil {
			all[apiVersion] = map[string]upgrade{}
		}
		if all[apiVersion][kind] == nil {
			all[apiVersion][kind] = u
		}
	}
	for _, r := range Every(nil) {
		if r.ToStored != nil && !r.Custom && r.GroupVersionKind() != r.Stored {
			add(r.GroupVersion().String(), r.Kind, func(value []byte) (runtime.Object, error) { return upgradeServed(r, value) })
		}
	}
	for _, r := range Every(nil) {
		if w := r.Written; w != nil {
			add(w.Kind.GroupVersion().String(), w.Kind.Kind, func(value []byte) (runtime.Object, error) {
				obj, err := decodeJSON(w.Kind, value)
				if err != nil {
					return nil, err
				}
				return w.From(obj)
			})
		}
	}
	for apiVersion, same := range sameMessages {
		for kind := range strings.FieldsSeq(same.kinds) {
			as := same.as.WithKind(kind)
			is := schema.FromAPIVersionAndKind(apiVersion, kind)
			add(apiVersion, kind, func(value []byte) (runtime.Object, error) { return decodeSame(is, as, value) })
		}
	}
	add("node.k8s.io/v1alpha1", "RuntimeClass", upgradeRuntimeClass)
	add("extensions/v1beta1", "NetworkPolicy", func(value []byte) (runtime.Object, error) {
		return decodeJSON(networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy"), value)
	})
	for _, version := range []string{"v1beta1", "v1beta2"} {
		all["flowcontrol.apiserver.k8s.io/"+version]["PriorityLevelConfiguration"] = upgradePriorityLevel
	}
	for _, group := range []string{"extensions", "networking.k8s.io"} {
		all[group+"/v1beta1"]["Ingress"] = upgradeIngress
	}
	add("discovery.k8s.io/v1beta1", "EndpointSlice", upgradeEndpointSlice)
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

// decodeSame is decodeJSON for a version of sameMessages.
func decodeSame(is, as schema.GroupVersionKind, value []byte) (runtime.Object, error) {
	obj, err := decodeJSON(as, value)
	if err == nil {
		amend(is, obj)
	}
	return obj, err
}

// upgradeRuntimeClass takes the fields out of the spec (K pkg/apis/node/v1alpha1/conversion.go).
func upgradeRuntimeClass(value []byte) (runtime.Object, error) {
	var old struct {
		Spec struct {
			RuntimeHandler string
			Overhead       *nodev1.Overhead
			Scheduling     *nodev1.Scheduling
		}
	}
	if err := json.Unmarshal(value, &old); err != nil {
		return nil, err
	}
	obj, err := decodeJSON(nodev1.SchemeGroupVersion.WithKind("RuntimeClass"), value)
	if err != nil {
		return nil, err
	}
	c := obj.(*nodev1.RuntimeClass)
	c.Handler, c.Overhead, c.Scheduling = old.Spec.RuntimeHandler, old.Spec.Overhead, old.Spec.Scheduling
	return c, nil
}

// upgradePriorityLevel renames the field that was renamed in v1beta3.
func upgradePriorityLevel(value []byte) (runtime.Object, error) {
	var object map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(value, &object); err != nil {
		return nil, err
	}
	if spec, ok := object["spec"].(map[string]any); ok {
		if limited, ok := spec["limited"].(map[string]any); ok {
			if shares, ok := limited["assuredConcurrencyShares"]; ok {
				delete(limited, "assuredConcurrencyShares")
				limited["nominalConcurrencyShares"] = shares
			}
		}
	}
	value, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	as := sameMessages["flowcontrol.apiserver.k8s.io/v1beta3"].as
	return decodeJSON(as.WithKind("PriorityLevelConfiguration"), value)
}

// upgradeIngress converts an Ingress whose backends have the name and the port of a service as two fields (K
// pkg/apis/networking/v1beta1/conversion.go).
func upgradeIngress(value []byte) (runtime.Object, error) {
	old, out := &networkingv1beta1.Ingress{}, &networkingv1.Ingress{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(value, old); err != nil {
		return nil, err
	}
	// What is left has the same JSON in both versions.
	backends, rules := old.Spec.Backend, old.Spec.Rules
	old.Spec.Backend, old.Spec.Rules = nil, nil
	data, err := json.Marshal(old)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return nil, err
	}
	if backends != nil {
		out.Spec.DefaultBackend = new(ingressBackend(backends))
	}
	for i := range rules {
		r := networkingv1.IngressRule{Host: rules[i].Host}
		if paths := rules[i].HTTP; paths != nil {
			r.HTTP = &networkingv1.HTTPIngressRuleValue{}
			for j := range paths.Paths {
				p := &paths.Paths[j]
				r.HTTP.Paths = append(r.HTTP.Paths, networkingv1.HTTPIngressPath{Path: p.Path,
					PathType: (*networkingv1.PathType)(p.PathType), Backend: ingressBackend(&p.Backend)})
			}
		}
		out.Spec.Rules = append(out.Spec.Rules, r)
	}
	return entry.Typed(out, networkingv1.SchemeGroupVersion.WithKind("Ingress")), nil
}

func ingressBackend(old *networkingv1beta1.IngressBackend) networkingv1.IngressBackend {
	b := networkingv1.IngressBackend{Resource: old.Resource}
	if old.ServiceName == "" && old.ServicePort == (intstr.IntOrString{}) {
		return b
	}
	b.Service = &networkingv1.IngressServiceBackend{Name: old.ServiceName}
	if old.ServicePort.Type == intstr.String {
		b.Service.Port.Name = old.ServicePort.StrVal
	} else {
		b.Service.Port.Number = old.ServicePort.IntVal
	}
	return b
}

// upgradeEndpointSlice converts an EndpointSlice whose endpoints have their zone in the topology (K
// pkg/apis/discovery/v1beta1/conversion.go).
func upgradeEndpointSlice(value []byte) (runtime.Object, error) {
	old, out := &discoveryv1beta1.EndpointSlice{}, &discoveryv1.EndpointSlice{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(value, old); err != nil {
		return nil, err
	}
	topologies := make([]map[string]string, len(old.Endpoints))
	for i := range old.Endpoints { // the rest has the same JSON in both versions
		topologies[i], old.Endpoints[i].Topology = old.Endpoints[i].Topology, nil
	}
	data, err := json.Marshal(old)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		return nil, err
	}
	for i, topology := range topologies {
		e := &out.Endpoints[i]
		if zone, ok := topology[corev1.LabelTopologyZone]; ok {
			e.Zone = &zone
			delete(topology, corev1.LabelTopologyZone)
		}
		if node, ok := topology[corev1.LabelHostname]; ok && (e.NodeName == nil || *e.NodeName == node) {
			delete(topology, corev1.LabelHostname)
		}
		if len(topology) > 0 {
			e.DeprecatedTopology = topology
		}
	}
	return entry.Typed(out, discoveryv1.SchemeGroupVersion.WithKind("EndpointSlice")), nil
}
