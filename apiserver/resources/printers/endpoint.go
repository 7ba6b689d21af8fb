package printers

import (
	"net"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

// shownEndpoints is how many addresses or ports are shown before the rest is counted.
const shownEndpoints = 3

func endpointsColumns() []Column {
	return []Column{nameColumn, text("Endpoints", corev1.Endpoints{}.SwaggerDoc()["subsets"]), ageColumn}
}

func endpointsCells(e *corev1.Endpoints, now time.Time) []any {
	shown := none
	if len(e.Subsets) > 0 {
		shown = shorten(addresses(e.Subsets), shownEndpoints, ",")
	}
	return []any{e.Name, shown, age(&e.ObjectMeta, now)}
}

// addresses lists each port's addresses; a headless service's subset may have no ports.
func addresses(subsets []corev1.EndpointSubset) []string {
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

func endpointSliceColumns() []Column {
	doc := discoveryv1.EndpointSlice{}.SwaggerDoc()
	return []Column{
		nameColumn,
		text("AddressType", doc["addressType"]),
		text("Ports", doc["ports"]),
		text("Endpoints", doc["endpoints"]),
		ageColumn,
	}
}

func endpointSliceCells(s *discoveryv1.EndpointSlice, now time.Time) []any {
	var ports, endpoints []string
	for _, p := range s.Ports {
		if p.Port != nil {
			ports = append(ports, strconv.Itoa(int(*p.Port)))
		} else {
			ports = append(ports, value(p.Name, "*"))
		}
	}
	for _, e := range s.Endpoints {
		endpoints = append(endpoints, e.Addresses...)
	}
	return []any{
		s.Name,
		string(s.AddressType),
		or(shorten(ports, shownEndpoints, ","), unset),
		or(shorten(endpoints, shownEndpoints, ","), unset),
		age(&s.ObjectMeta, now),
	}
}
