// Package metrics has the metrics of requests, watches and memory. A metric that kube-apiserver has, too, has the same
// name here, so that dashboards for kube-apiserver work.
//
// It guarantees:
//
//  1. The labels of requests are from the table of resources, or from a fixed set, so the number of series is limited
//     by the served resources.
//  2. The series of a resource that is no longer served are removed at the next request or scrape. If it is served
//     again, they start at zero.
//
// Metrics may be used from any goroutine.
package metrics
