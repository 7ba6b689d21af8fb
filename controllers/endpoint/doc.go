// Package endpoint says where the pods of services are, by EndpointSlices and by Endpoints
// (k8s.io/endpointslice, K pkg/controller/endpoint: endpointslice-controller, endpoints-controller).
//
// It guarantees:
//
//  1. It is pure: Slices and Endpoints are values for package workload, which runs them.
//  2. Services with a selector have both; those without one, or of type ExternalName, are left to whoever
//     keeps them. A pod is in them once it has an address, until it has finished; whether it is ready is said
//     beside it.
//  3. An EndpointSlice is controlled by its service (I-09), has endpoints of one family with the same ports, and at most
//     100 of them. A service without endpoints has one, empty. What is in one slice stays there; a slice is
//     written only if it changes.
//  4. Endpoints are called as their service, and go when it goes. They have at most 1000 addresses, ready ones
//     first.
//
// Not modelled are the hints of topology aware routing, and the mirroring of Endpoints without a selector.
package endpoint
