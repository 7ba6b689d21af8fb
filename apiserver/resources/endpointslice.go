package resources

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	v1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func endpointSlices() *entry.Resource {
	return &entry.Resource{
		Plural: "endpointslices", New: entry.New[discoveryv1.EndpointSlice], Namespaced: true,
		Strategy: entry.Strategy{
			Generation: entry.AnyButMetaOrLabels,
			Default:    entry.Default(defaultEndpointSlice),
			Prepare:    entry.Change(dropTopology),
			Validate:   entry.ValidateChange(validateEndpointSlice),
			Warnings:   entry.Warn(sliceWarnings),
		},
		Table: endpointSliceTable(),
	}
}

func defaultEndpointSlice(s *discoveryv1.EndpointSlice) {
	for i := range s.Ports {
		check.SetDefault(&s.Ports[i].Name, "")
		check.SetDefault(&s.Ports[i].Protocol, corev1.ProtocolTCP)
	}
}

// sliceWarnings returns warnings for addresses. It does not check those of the controllers that usually write slices.
func sliceWarnings(s, old *discoveryv1.EndpointSlice) []string {
	var texts []string
	if old == nil && s.AddressType == discoveryv1.AddressTypeFQDN {
		texts = append(texts, "spec.addressType: FQDN endpoints are deprecated")
	}
	switch s.Labels[discoveryv1.LabelManagedBy] {
	case "endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io":
		return texts
	}
	for i := range s.Endpoints {
		for j, address := range s.Endpoints[i].Addresses {
			texts = append(texts, check.AddressWarnings(field.NewPath("endpoints").Index(i).Child("addresses").Index(j),
				address)...)
		}
	}
	return texts
}

// dropTopology removes the field topology of endpoints, which v1 does not have. The node name in it becomes the
// endpoint's nodeName, so that a partial update keeps it. Unchanged endpoints keep the field.
func dropTopology(s, old *discoveryv1.EndpointSlice) {
	was := check.ValueOf(old).Endpoints
	if apiequality.Semantic.DeepEqual(s.Endpoints, was) {
		return
	}
	known := map[string]bool{}
	for _, e := range was {
		known[e.DeprecatedTopology[corev1.LabelHostname]] = true
	}
	for i := range s.Endpoints {
		e := &s.Endpoints[i]
		node := e.DeprecatedTopology[corev1.LabelHostname]
		if e.NodeName == nil && node != "" && known[node] && len(validation.NameIsDNSSubdomain(node, false)) == 0 {
			e.NodeName = &node
		}
		e.DeprecatedTopology = nil
	}
}

const (
	maxTopologyLabels = 16
	maxEndpointPorts  = 20000
	maxEndpoints      = 1000
	maxHints          = 8
)

// validateEndpointSlice validates a slice. It does not validate unchanged endpoints.
func validateEndpointSlice(s, old *discoveryv1.EndpointSlice) (errs field.ErrorList) {
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
	for i := range list {
		e, at := &list[i], at.Index(i)
		addresses := at.Child("addresses")
		for j, value := range e.Addresses {
			errs = append(errs, sliceAddress(value, kind, addresses.Index(j))...)
		}
		errs = append(errs, check.Given(e.NodeName, at.Child("nodeName"), check.DNSSubdomain)...)
		topology := at.Child("deprecatedTopology")
		errs = append(errs, check.MaxItems(len(e.DeprecatedTopology), maxTopologyLabels, topology)...)
		errs = append(errs, v1validation.ValidateLabels(e.DeprecatedTopology, topology)...)
		errs = append(errs, check.Given(e.Hostname, at.Child("hostname"), check.DNSLabel)...)
		errs = append(errs, check.Optional(e.Hints, at.Child("hints"), hints)...)
	}
	return errs
}

// sliceAddress validates an address of a known type.
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
	errs := check.IP(value, at, nil)
	errs = append(errs, check.Reject(len(errs) == 0 && !is, at, value, text)...)
	// Loopback addresses are allowed: there is no cluster network, and webhooks of services run on this machine.
	if ip := netutils.ParseIPSloppy(value); len(errs) == 0 && ip.IsLoopback() {
		return errs
	}
	return append(errs, check.ReachableIP(value, at)...)
}

func hints(h *discoveryv1.EndpointHints, at *field.Path) field.ErrorList {
	zones := make([]string, len(h.ForZones))
	for i, zone := range h.ForZones {
		zones[i] = zone.Name
	}
	nodes := make([]string, len(h.ForNodes))
	for i, node := range h.ForNodes {
		nodes[i] = node.Name
	}
	errs := hintNames(zones, at.Child("forZones"), check.LabelValue)
	if len(zones) > maxHints {
		return errs
	}
	return append(errs, hintNames(nodes, at.Child("forNodes"), check.DNSSubdomain)...)
}

func hintNames(names []string, at *field.Path, is func(string, *field.Path) field.ErrorList) (errs field.ErrorList) {
	if len(names) > maxHints {
		return field.ErrorList{field.TooMany(at, len(names), maxHints)}
	}
	seen := check.Unique[string]{}
	for i, name := range names {
		at := at.Index(i).Child("name")
		errs = append(errs, seen.Add(name, at)...)
		errs = append(errs, is(name, at)...)
	}
	return errs
}

func slicePorts(list []discoveryv1.EndpointPort, at *field.Path) (errs field.ErrorList) {
	if len(list) > maxEndpointPorts {
		return field.ErrorList{field.TooMany(at, len(list), maxEndpointPorts)}
	}
	seen := check.Unique[string]{}
	for i := range list {
		p, at := &list[i], at.Index(i)
		name := check.ValueOf(p.Name) // defaulting has set every name, at least to an empty one
		errs = append(errs, check.NonEmpty(name, at.Child("name"), check.DNSLabel)...)
		errs = append(errs, seen.Add(name, at.Child("name"))...)
		errs = append(errs, check.Must(p.Protocol, at.Child("protocol"), "", check.Among(check.Protocols...))...)
		errs = append(errs, check.Given(p.AppProtocol, at.Child("appProtocol"), check.QualifiedName)...)
	}
	return errs
}

func endpointSliceTable() entry.Table {
	doc := discoveryv1.EndpointSlice{}.SwaggerDoc()
	return entry.Listed([]entry.Column{
		entry.Text("AddressType", doc["addressType"]),
		entry.Text("Ports", doc["ports"]),
		entry.Text("Endpoints", doc["endpoints"]),
	}, func(s *discoveryv1.EndpointSlice) []any {
		var ports, endpoints []string
		for _, p := range s.Ports {
			if p.Port != nil {
				ports = append(ports, strconv.Itoa(int(*p.Port)))
			} else {
				ports = append(ports, entry.ValueOr(p.Name, "*"))
			}
		}
		for _, e := range s.Endpoints {
			endpoints = append(endpoints, e.Addresses...)
		}
		return []any{
			string(s.AddressType),
			entry.StringOr(entry.Shorten(ports, entry.ShownEndpoints, ","), entry.Unset),
			entry.StringOr(entry.Shorten(endpoints, entry.ShownEndpoints, ","), entry.Unset),
		}
	})
}
