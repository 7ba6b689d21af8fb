package apiservice

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// Move is what to do with an APIService.
type Move uint8

// The moves.
const (
	Leave Move = iota
	Create
	Update
	Delete
)

// String returns the move's name.
func (m Move) String() string { return [...]string{"leave", "create", "update", "delete"}[m] }

// past is what is known about an APIService since the controller started.
type past struct {
	// stored says that it existed at the start.
	stored bool
	// kept says that a pass over it has succeeded.
	kept bool
}

// decide decides what to do with an APIService (KA autoregister_controller.go:checkAPIService, whose table this is).
// Either may be nil.
func decide(have, want *apiregistrationv1.APIService, p past) Move {
	switch {
	case have == nil && want == nil, managed(want) == OnStart && p.kept:
		return Leave
	case have == nil:
		return Create
	case managed(have) == "":
		return Leave
	case managed(have) == OnStart && (!p.stored || p.kept):
		return Leave
	case want == nil:
		return Delete
	case equality.Semantic.DeepEqual(have.Spec, want.Spec):
		return Leave
	}
	return Update
}

// managed is the value of the label: OnStart, Always, or empty for an APIService of a user.
func managed(s *apiregistrationv1.APIService) string {
	if s == nil {
		return ""
	}
	if by := s.Labels[Label]; by == OnStart || by == Always {
		return by
	}
	return ""
}

// setAvailable sets the condition in a status, and reports whether that changed it. An equal one keeps its time (KA
// pkg/apis/apiregistration/v1/helper: SetAPIServiceCondition).
func setAvailable(
	s *apiregistrationv1.APIServiceStatus, c apiregistrationv1.APIServiceCondition, now metav1.Time,
) bool {
	c.LastTransitionTime = now
	for i := range s.Conditions {
		old := &s.Conditions[i]
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		changed := *old != c
		*old = c
		return changed
	}
	s.Conditions = append(s.Conditions, c)
	return true
}
