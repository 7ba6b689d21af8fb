// Package apps is a package of one of two minors that are compared.
package apps

import pods "example.com/m/v1"

type Deployment struct {
	Template []*pods.Spec `json:"template"`
}

func addKnownTypes(scheme *Scheme) { scheme.AddKnownTypes(Group, &Deployment{}) }
