// Package v1 is a package of one of two minors that are compared.
package v1

// +k8s:deepcopy-gen=true
type Pod struct {
	TypeMeta `json:",inline"`
	// +optional
	Name  string `json:"name" protobuf:"bytes,1,opt,name=name"`
	Count int32  `json:"count"`
	Old   string `json:"old"`
}

type Spec struct {
	Old int `json:"old"`
}

type Phase string

const Running Phase = "Running"

func addKnownTypes(scheme *Scheme) { scheme.AddKnownTypes(Group, &Pod{}) }
