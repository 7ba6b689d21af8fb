// Package v1 is a package of one of two minors that are compared.
package v1

// +k8s:deepcopy-gen=true
type Pod struct {
	TypeMeta `json:""`
	// +required
	// +k8s:beta(since: "1.37")=+k8s:required
	Name  string `json:"name" protobuf:"bytes,7,opt,name=name"`
	Count int32  `json:"count"`
	Probe *Probe `json:"probe,omitempty"`
	// +featureGate=Moved
	Spec map[string]Spec `json:"spec"`
}

type PodList struct {
	Items []Pod `json:"items"`
}

type Spec struct {
	// +k8s:ifDisabled(Off)=+k8s:forbidden
	Old string `json:"old"`
}

type Probe struct{}

type Phase string

const (
	Running Phase = "Running"
	Gone    Phase = "Gone"
)

func addKnownTypes(scheme *Scheme) { scheme.AddKnownTypes(Group, &Pod{}, &PodList{}, &Probe{}) }
