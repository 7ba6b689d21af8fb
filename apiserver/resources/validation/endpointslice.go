package validation

import (
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/invalid"
)

const (
	maxTopologyLabels = 16
	maxAddresses      = 100
	maxEndpointPorts  = 20000
	maxEndpoints      = 1000
	maxHints          = 8
)

var addressTypes = []discoveryv1.AddressType{discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}

func endpointSlice(s *discoveryv1.EndpointSlice) field.ErrorList { return endpointSliceOver(s, nil) }

func endpointSliceUpdate(s, old *discoveryv1.EndpointSlice) field.ErrorList {
	return append(endpointSliceOver(s, old), immutable(s.AddressType, old.AddressType, field.NewPath("addressType"))...)
}

// endpointSliceOver tolerates endpoints that were there already.
func endpointSliceOver(s, old *discoveryv1.EndpointSlice) field.ErrorList {
	errs := required(s.AddressType, field.NewPath("addressType"), addressTypes)
	wrong := sliceEndpoints(s.Endpoints, s.AddressType, field.NewPath("endpoints"))
	if len(wrong) != 0 && (old == nil || !apiequality.Semantic.DeepEqual(s.Endpoints, old.Endpoints)) {
		errs = append(errs, wrong...)
	}
	return append(errs, slicePorts(s.Ports, field.NewPath("ports"))...)
}

func sliceEndpoints(list []discoveryv1.Endpoint, kind discoveryv1.AddressType, at *field.Path) (errs field.ErrorList) {
	if len(list) > maxEndpoints {
		return field.ErrorList{field.TooMany(at, len(list), maxEndpoints)}
	}
	for i := range invalid.Each(list, &errs) {
		e, at := &list[i], at.Index(i)
		addresses := at.Child("addresses")
		if len(e.Addresses) == 0 {
			errs = append(errs, field.Required(addresses, "must contain at least 1 address"))
		} else if len(e.Addresses) > maxAddresses {
			errs = append(errs, field.TooMany(addresses, len(e.Addresses), maxAddresses))
		}
		for j, value := range invalid.Each(e.Addresses, &errs) {
			errs = append(errs, sliceAddress(value, kind, addresses.Index(j))...)
		}
		if e.NodeName != nil {
			errs = append(errs, nodeName(*e.NodeName, at.Child("nodeName"))...)
		}
		topology := at.Child("deprecatedTopology")
		if len(e.DeprecatedTopology) > maxTopologyLabels {
			errs = append(errs, field.TooMany(topology, len(e.DeprecatedTopology), maxTopologyLabels))
		}
		errs = append(errs, invalid.Labels(e.DeprecatedTopology, topology)...)
		if e.Hostname != nil {
			errs = append(errs, label(*e.Hostname, at.Child("hostname"))...)
		}
		if e.Hints != nil {
			errs = append(errs, hints(e.Hints, at.Child("hints"))...)
		}
	}
	return errs
}

// sliceAddress judges an address of a known type.
func sliceAddress(value string, kind discoveryv1.AddressType, at *field.Path) field.ErrorList {
	var is bool
	var text string
	switch kind {
	case discoveryv1.AddressTypeFQDN:
		return utilvalidation.IsFullyQualifiedDomainName(at, value)
	case discoveryv1.AddressTypeIPv4:
		is, text = netutils.IsIPv4String(value), "must be an IPv4 address"
	case discoveryv1.AddressTypeIPv6:
		is, text = netutils.IsIPv6String(value), "must be an IPv6 address"
	default:
		return nil
	}
	errs := ip(value, at, nil)
	if len(errs) == 0 && !is {
		errs = append(errs, field.Invalid(at, value, text))
	}
	return append(errs, reachableIP(value, at)...)
}

func hints(h *discoveryv1.EndpointHints, at *field.Path) (errs field.ErrorList) {
	zones, nodes := at.Child("forZones"), at.Child("forNodes")
	if len(h.ForZones) > maxHints {
		return field.ErrorList{field.TooMany(zones, len(h.ForZones), maxHints)}
	}
	seen := map[string]bool{}
	for i, zone := range invalid.Each(h.ForZones, &errs) {
		at := zones.Index(i).Child("name")
		if seen[zone.Name] {
			errs = append(errs, field.Duplicate(at, zone.Name))
		}
		seen[zone.Name] = true
		errs = append(errs, judge(zone.Name, at, utilvalidation.IsValidLabelValue)...)
	}
	if len(h.ForNodes) > maxHints {
		return append(errs, field.TooMany(nodes, len(h.ForNodes), maxHints))
	}
	seen = map[string]bool{}
	for i, node := range invalid.Each(h.ForNodes, &errs) {
		at := nodes.Index(i).Child("name")
		if seen[node.Name] {
			errs = append(errs, field.Duplicate(at, node.Name))
		}
		seen[node.Name] = true
		errs = append(errs, nodeName(node.Name, at)...)
	}
	return errs
}

func slicePorts(list []discoveryv1.EndpointPort, at *field.Path) (errs field.ErrorList) {
	if len(list) > maxEndpointPorts {
		return field.ErrorList{field.TooMany(at, len(list), maxEndpointPorts)}
	}
	seen := map[string]bool{}
	for i := range invalid.Each(list, &errs) {
		p, at := &list[i], at.Index(i)
		// Defaulting has given each a name, if only an empty one.
		name := ""
		if p.Name != nil {
			name = *p.Name
		}
		if name != "" {
			errs = append(errs, label(name, at.Child("name"))...)
		}
		if seen[name] {
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		}
		seen[name] = true
		if p.Protocol == nil {
			errs = append(errs, field.Required(at.Child("protocol"), ""))
		} else {
			errs = append(errs, oneOf(*p.Protocol, at.Child("protocol"), protocols)...)
		}
		if p.AppProtocol != nil {
			errs = append(errs, qualified(*p.AppProtocol, at.Child("appProtocol"))...)
		}
	}
	return errs
}
