// Package v2 has the spoke version of the group harbor.example.org.
// +kubebuilder:object:generate=true
// +groupName=harbor.example.org
package v2

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "harbor.example.org", Version: "v2"}

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Berth{}, &BerthList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
