package hooks

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
)

// Admit admits the body of a request that is not stored: validate checks the body between the mutating and the
// validating admission plugins, as the storage does for other kinds.
func Admit(ctx context.Context, r Request, body runtime.Object, validate func() error) error {
	if err := r.Admit(ctx, body); err != nil {
		return err
	}
	if err := validate(); err != nil {
		return err
	}
	return r.Validate(ctx, body)
}
