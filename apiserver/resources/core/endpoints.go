package core

import (
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecascade/kubecascade/apiserver/resources/entry"
	"github.com/kubecascade/kubecascade/apiserver/resources/internal/check"
)

func endpoints() *entry.Resource {
	return &entry.Resource{
		Plural: "endpoints", New: entry.New[corev1.Endpoints], Namespaced: true,
		ShortNames: []string{"ep"},
		Storage:    entry.Storage{Collection: "services/endpoints"},
		Strategy: entry.Strategy{
			CreateOnUpdate: true,
			Metadata:       entry.Metadata{Again: 1},
			Default:        entry.Default(defaultEndpoints),
			Validate:       entry.ValidateChange(validateEndpoints),
			Warnings:       entry.Warn(endpointsWarnings),
		},
		Table: entry.Listed([]entry.Column{entry.Text("Endpoints", corev1.Endpoints{}.SwaggerDoc()["subsets"])},
			endpointsCells),
	}
}

func defaultEndpoints(e *corev1.Endpoints) {
	for i := range e.Subsets {
		for j := range e.Subsets[i].Ports {
			check.FillDefault(&e.Subsets[i].Ports[j].Protocol, corev1.ProtocolTCP)
		}
	}
}

// endpointsWarnings returns warnings for addresses. It does not check those of the controller that usually writes
// endpoints.
func endpointsWarnings(e, _ *corev1.Endpoints) []string {
	if e.Labels["endpoints.kubernetes.io/managed-by"] == "endpoint-controller" {
		return nil
	}
	var texts []string
	addresses := func(at *field.Path, list []corev1.EndpointAddress) {
		for i := range list {
			texts = append(texts, check.AddressWarnings(at.Index(i).Child("ip"), list[i].IP)...)
		}
	}
	for i := range e.Subsets {
		at := field.NewPath("subsets").Index(i)
		addresses(at.Child("addresses"), e.Subsets[i].Addresses)
		addresses(at.Child("notReadyAddresses"), e.Subsets[i].NotReadyAddresses)
	}
	return texts
}

// validateEndpoints does not validate unchanged subsets.
func validateEndpoints(e, old *corev1.Endpoints) field.ErrorList {
	errs := check.Each(e.Subsets, field.NewPath("subsets"), endpointSubset)
	if len(errs) > 0 && old != nil && apiequality.Semantic.DeepEqual(e.Subsets, old.Subsets) {
		return nil
	}
	return errs
}

func endpointSubset(s *corev1.EndpointSubset, at *field.Path) (errs field.ErrorList) {
	errs = append(errs, check.Present(len(s.Addresses)+len(s.NotReadyAddresses) > 0, at,
		"must specify `addresses` or `notReadyAddresses`")...)
	errs = append(errs, check.Each(s.Addresses, at.Child("addresses"), endpointAddress)...)
	errs = append(errs, check.Each(s.NotReadyAddresses, at.Child("notReadyAddresses"), endpointAddress)...)
	for i := range s.Ports {
		errs = append(errs, endpointPort(&s.Ports[i], len(s.Ports) > 1, at.Child("ports").Index(i))...)
	}
	return errs
}

func endpointAddress(a *corev1.EndpointAddress, at *field.Path) field.ErrorList {
	errs := check.IP(a.IP, at.Child("ip"), nil)
	errs = append(errs, check.NonEmpty(a.Hostname, at.Child("hostname"), check.DNSLabel)...)
	errs = append(errs, check.Given(a.NodeName, at.Child("nodeName"), check.DNSSubdomain)...)
	return append(errs, check.ReachableIP(a.IP, at.Child("ip"))...)
}

func endpointPort(p *corev1.EndpointPort, named bool, at *field.Path) (errs field.ErrorList) {
	if p.Name != "" {
		errs = append(errs, check.DNSLabel(p.Name, at.Child("name"))...)
	} else if named {
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	errs = append(errs, check.PortNumber(p.Port, at.Child("port"))...)
	errs = append(errs, check.Protocol(p.Protocol, at.Child("protocol"))...)
	return append(errs, check.Given(p.AppProtocol, at.Child("appProtocol"), check.QualifiedName)...)
}

func endpointsCells(e *corev1.Endpoints) []any {
	shown := entry.None
	if len(e.Subsets) > 0 {
		shown = entry.Shorten(shownAddresses(e.Subsets), entry.ShownEndpoints, ",")
	}
	return []any{shown}
}

// shownAddresses returns the addresses with each port. A headless service's subset may have no ports.
func shownAddresses(subsets []corev1.EndpointSubset) []string {
	var all []string
	for _, s := range subsets {
		if len(s.Ports) == 0 {
			for _, a := range s.Addresses {
				all = append(all, a.IP)
			}
		}
		for _, p := range s.Ports {
			for _, a := range s.Addresses {
				all = append(all, net.JoinHostPort(a.IP, strconv.Itoa(int(p.Port))))
			}
		}
	}
	return all
}
