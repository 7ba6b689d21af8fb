// Package metrics has the kinds of the group metrics.k8s.io: PodMetrics and NodeMetrics. Nothing of them is stored:
// their objects are made of the stored pods and nodes when they are read, as metrics-server makes them of what kubelets
// measure (kubernetes-sigs/metrics-server pkg/api).
//
// It guarantees:
//
//  1. A running pod for which the Source has a measurement has metrics, with the pod's labels; no other pod has.
//  2. Every node has metrics: the sum over the pods that are assigned to it.
//  3. A read shows every write that was acknowledged before it.
//  4. Reading the metrics of one pod decodes one pod, a list those of its namespace, and node metrics those of all.
package metrics
