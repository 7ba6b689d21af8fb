package validation

import "k8s.io/apimachinery/pkg/runtime/schema"

// workloads are pods and the kinds that make them.
var workloads = map[schema.GroupKind]Kind{}
