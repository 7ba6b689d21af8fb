package admission

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/auth"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// Operation is what a request does.
type Operation string

// The operations, named as in webhook rules.
const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT"
)

// Attributes describe a request to the plugins.
type Attributes struct {
	Operation   Operation
	Resource    *resources.Resource
	Subresource string
	Namespace   string
	// Name is empty when it is to be generated and for a collection's delete.
	Name string
	// Object is the new state, nil for DELETE; mutating plugins change it in place.
	Object runtime.Object
	// Old is the stored state, nil for CREATE.
	Old    runtime.Object
	User   auth.User
	DryRun bool
	// Warn adds a Warning header to the answer.
	Warn func(text string)
}

// Plugin has a name, by which it is turned on and off.
type Plugin interface{ Name() string }

// Mutator may change Attributes.Object.
type Mutator interface {
	Plugin
	Admit(ctx context.Context, a *Attributes) error
}

// Validator only judges.
type Validator interface {
	Plugin
	Validate(ctx context.Context, a *Attributes) error
}

// Chain is the plugins in order.
type Chain []Plugin

// Admit runs the mutating plugins.
func (c Chain) Admit(ctx context.Context, a *Attributes) error {
	for _, p := range c {
		if m, ok := p.(Mutator); ok {
			if err := m.Admit(ctx, a); err != nil {
				return denied(a, err)
			}
		}
	}
	return nil
}

// Validate runs the validating plugins.
func (c Chain) Validate(ctx context.Context, a *Attributes) error {
	for _, p := range c {
		if v, ok := p.(Validator); ok {
			if err := v.Validate(ctx, a); err != nil {
				return denied(a, err)
			}
		}
	}
	return nil
}

// denied turns a plain error into a 403 that names the object (0-08).
func denied(a *Attributes, err error) error {
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		return err
	}
	return Forbidden(a, err)
}

// Forbidden is the 403 for a request: it names the object, else its generateName, else "Unknown"
// (AS pkg/admission/errors.go: extractResourceName).
func Forbidden(a *Attributes, err error) error {
	name := a.Name
	if name == "" && a.Object != nil {
		name = "Unknown"
		if m, e := meta.Accessor(a.Object); e == nil {
			if m.GetName() != "" {
				name = m.GetName()
			} else if m.GetGenerateName() != "" {
				name = m.GetGenerateName()
			}
		}
	}
	return apierrors.NewForbidden(a.Resource.GroupResource(), name, err)
}
