// Package metrics is what the server tells Prometheus of requests, watches and memory, under kube-apiserver's names
// where it has them, so that its dashboards work.
//
// It guarantees:
//
//  1. The labels of requests are those of the table of resources, or of a fixed set: the number of series is bounded by
//     the resources that are served.
//  2. The series of a resource that is not served any more are forgotten with the next request, or when metrics are
//     asked for. One that is served again starts at zero.
//
// Metrics may be used from any goroutine.
package metrics
