package explain

import (
	"strings"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// ObjectReference names an object in an answer.
type ObjectReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
	// resource is the Name of the resource; empty in decoded answers.
	resource string
}

// Key is the key of the object in the Cluster. The Collection is empty in decoded answers.
func (r ObjectReference) Key() graph.Key {
	return graph.Key{Collection: r.resource, Namespace: r.Namespace, Name: r.Name}
}

// String is the name with the kind, as kubectl prints it, after the namespace: ns/deployment.apps/web.
func (r ObjectReference) String() string {
	name := strings.ToLower(r.Kind)
	if group, _, ok := strings.Cut(r.APIVersion, "/"); ok {
		name += "." + group
	}
	name += "/" + r.Name
	if r.Namespace != "" {
		return r.Namespace + "/" + name
	}
	return name
}

// OwnerReference is an owner reference of an object in an answer.
type OwnerReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	// Block is blockOwnerDeletion.
	Block bool `json:"blockOwnerDeletion,omitempty"`
}

// Hidden is a resource whose objects are not known, and why.
type Hidden struct {
	Resource string `json:"resource"`
	Why      string `json:"reason"`
}

// Grouped has one item for each reason, with all its resources in the order of the first one.
func Grouped(all []Hidden) (groups []Hidden) {
	at := map[string]int{}
	for _, h := range all {
		if i, ok := at[h.Why]; ok {
			groups[i].Resource += ", " + h.Resource
			continue
		}
		at[h.Why] = len(groups)
		groups = append(groups, h)
	}
	return groups
}
