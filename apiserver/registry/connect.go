package registry

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission"
)

// Connect admits a request for a connection, whose object are its options (L-21), by the configurations of a consistent
// read.
func (s *Registry) Connect(ctx context.Context, o *Operation, options runtime.Object) error {
	if err := s.Fresh(ctx); err != nil {
		return err
	}
	a := o.Attributes(admission.Connect, options, nil)
	if err := s.Admission.Admit(ctx, a); err != nil {
		return err
	}
	return s.Admission.Validate(ctx, a)
}
