// Package endpoint says where the pods of services are, by EndpointSlices and by Endpoints
// (k8s.io/endpointslice, K pkg/controller/endpoint, endpointslicemirroring: endpointslice-controller,
// endpoints-controller, endpointslice-mirroring-controller).
//
// It guarantees:
//
//  1. It is pure: Slices, Endpoints and Mirror are values for package workload, which runs them.
//  2. Services with a selector have both; those without one, or of type ExternalName, are left to whoever
//     keeps them. A pod is in them once it has an address, until it has finished; whether it is ready is said
//     beside it.
//  3. An EndpointSlice is controlled by its service (I-09), has endpoints of one family with the same ports, and at most
//     100 of them. A service without endpoints has one, empty. What is in one slice stays there; a slice is
//     written only if it changes.
//  4. Endpoints are called as their service, and go when it goes. They have at most 1000 addresses, ready ones
//     first.
//  5. What Endpoints of a service without a selector say is shown by EndpointSlices that they control (I-02), one for
//     each family and set of ports, at most 1000 addresses of a subset; unless they say that they aren't to be, or are
//     somebody's lock.
//
// Not modelled are the hints of topology aware routing.
package endpoint
