package v2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BerthSpec says which vessel lies where.
type BerthSpec struct {
	// Ship is the name of the vessel. Version v1 calls it vessel.
	Ship string `json:"ship"`
	// Quay is where the vessel lies; the defaulting webhook chooses one.
	// +optional
	Quay string `json:"quay,omitempty"`
	// LengthMeters is the length of the vessel.
	// +kubebuilder:validation:Minimum=1
	LengthMeters int32 `json:"lengthMeters"`
	// Moored vessels' berths can't be deleted.
	// +optional
	Moored bool `json:"moored,omitempty"`
}

// BerthStatus is what was observed.
type BerthStatus struct {
	// Tugs are the tugs that attend to the vessel.
	// +optional
	Tugs int32 `json:"tugs,omitempty"`
}

// Berth is a vessel's place in the harbor.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Berth struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BerthSpec   `json:"spec"`
	Status BerthStatus `json:"status,omitempty"`
}

// BerthList is a list of Berths.
// +kubebuilder:object:root=true
type BerthList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Berth `json:"items"`
}
