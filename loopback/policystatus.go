package loopback

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// PolicyStatus is policystatus.API.
type PolicyStatus struct {
	// API writes as policystatus.Manager.
	API   *registry.Loopback
	Cache *cache.Cache
	// Served tells of the types by which expressions are checked.
	Served expression.Schemas
}

func (s *PolicyStatus) path(sub, name string) registry.Path {
	return registry.Path{
		Resource:    s.API.Types().Lookup(admissionv1.GroupName, "v1", "validatingadmissionpolicies"),
		Subresource: sub, Name: name,
	}
}

// Follow implements policystatus.API.
func (s *PolicyStatus) Follow(ctx context.Context, sink func(string)) error {
	collection := s.path("", "").Resource.Collection
	return feed{cache: s.Cache, first: collection, collections: []string{collection},
		begin: func(state iter.Seq[*storage.Object]) {
			for o := range state {
				sink(o.Meta.Name)
			}
		},
		each: func(e *cache.Event) error {
			if e.Type != cache.Deleted {
				sink(e.Object.Meta.Name)
			}
			return nil
		},
	}.follow(ctx)
}

// Policy implements policystatus.API.
func (s *PolicyStatus) Policy(name string) (*admissionv1.ValidatingAdmissionPolicy, error) {
	o, _ := s.Cache.Get(s.API.Key(s.path("", "").Resource, "", name))
	if o == nil {
		return nil, nil
	}
	return typed[admissionv1.ValidatingAdmissionPolicy](o, o.Err)
}

// Check implements policystatus.API. A panic of the type checker is an error: expressions are the users'.
func (s *PolicyStatus) Check(
	p *admissionv1.ValidatingAdmissionPolicy,
) (warnings []admissionv1.ExpressionWarning, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("checking the types of %s panicked: %v", p.Name, r)
		}
	}()
	return expression.CheckTypes(&p.Spec, s.Served), nil
}

// ApplyStatus implements policystatus.API.
func (s *PolicyStatus) ApplyStatus(ctx context.Context, p *admissionv1.ValidatingAdmissionPolicy) error {
	document, err := json.Marshal(map[string]any{
		"apiVersion": admissionv1.SchemeGroupVersion.String(), "kind": "ValidatingAdmissionPolicy",
		"metadata": map[string]any{"name": p.Name, "resourceVersion": p.ResourceVersion}, "status": p.Status,
	})
	if err == nil {
		_, err = s.API.Apply(ctx, s.path("status", p.Name), document)
	}
	return err
}
