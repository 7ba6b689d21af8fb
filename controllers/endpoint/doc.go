// Package endpoint publishes the addresses of services' pods in EndpointSlices and in Endpoints (k8s.io/endpointslice,
// K pkg/controller/endpoint, endpointslicemirroring: endpointslice-controller, endpoints-controller,
// endpointslice-mirroring-controller).
//
// It guarantees:
//
//  1. It is pure: Slices, Endpoints and Mirror are values for package workload, which runs them.
//  2. Services with a selector have both. For other services, and those of type ExternalName, users create them. Both
//     have an entry for each pod that has an address and has not finished, which shows whether the pod is ready.
//     Endpoints omit pods that are being deleted, unless the service has publishNotReadyAddresses.
//  3. An EndpointSlice is controlled by its service (I-09), and has at most 100 endpoints of one family with the same
//     ports. A service without endpoints has one empty slice for each family. An endpoint stays in its
//     slice; a slice is written only if it changes.
//  4. Endpoints have the name of their service, and are deleted with it. They have at most 1000 addresses, ready ones
//     first.
//  5. Endpoints of a service without a selector are mirrored by EndpointSlices (I-02), one for each family and set of
//     ports. The Endpoints control these slices. At most 1000 addresses of each subset are mirrored. Endpoints with the
//     label that disables mirroring, or with a leader election annotation, are not mirrored.
//
// The endpoints in slices have the hints of spec.trafficDistribution, but not those of the annotation of topology aware
// routing.
package endpoint
