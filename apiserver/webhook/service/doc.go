// Package service finds the address of a Service, for webhooks that are configured by a Service.
//
// There is no cluster network, so a cluster IP can not be reached. The address is, of those that exist, the first of:
//
//	the external name of a Service of the type ExternalName
//	the cluster IP, if it is a loopback address
//	a ready address in the EndpointSlices of the Service, as with kube-apiserver's --enable-aggregator-routing
//
// It guarantees:
//
//  1. The result is that of the state when the connection is made: a Service or EndpointSlice that was stored before
//     counts.
//  2. Errors have upstream's messages (L-73).
//  3. Of several addresses one is picked at random, of the Service's primary IP family if it has one.
package service
