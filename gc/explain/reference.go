package explain

import "strings"

// ObjectReference names an object in an answer.
type ObjectReference struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
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
