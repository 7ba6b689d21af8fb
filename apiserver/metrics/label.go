package metrics

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Label has the labels of a request in kube-apiserver's metrics. DryRun is "All" or empty.
type Label struct{ Verb, Group, Version, Resource, Subresource, Scope, DryRun string }

// ResourceOf returns the resource of the request.
func (l Label) ResourceOf() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: l.Group, Version: l.Version, Resource: l.Resource}
}

// Scoped returns the values of the labels that all request metrics have.
func (l Label) Scoped() []string {
	return []string{l.Verb, l.Group, l.Version, l.Resource, l.Subresource, l.Scope}
}

// Tried returns the values of Scoped and dryRun.
func (l Label) Tried() []string { return append(l.Scoped(), l.DryRun) }
