// Package v1 has the hub version of the group harbor.example.org.
// +kubebuilder:object:generate=true
// +groupName=harbor.example.org
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is that of the types in this package.
var GroupVersion = schema.GroupVersion{Group: "harbor.example.org", Version: "v1"}

// AddToScheme adds the types of this package to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Berth{}, &BerthList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
