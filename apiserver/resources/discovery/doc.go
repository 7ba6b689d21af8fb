// Package discovery has the kinds of the group discovery.k8s.io: EndpointSlice.
//
// It guarantees:
//
//  1. It has the guarantees that package entry states for the package of a group.
//
// +k8s:validation-gen=TypesWithField=TypeMeta
// +k8s:validation-gen-input=k8s.io/api/discovery/v1
package discovery
