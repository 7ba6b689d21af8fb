package registry

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecascade/kubecascade/storage"
)

// accountPatience is how long the default account of a namespace is waited for, which a controller makes
// right after the namespace (K plugin/pkg/admission/serviceaccount: getServiceAccount).
const accountPatience = 1500 * time.Millisecond

// serviceAccount returns a service account as of now (admission.ServiceAccount).
func (s *Registry) serviceAccount(ctx context.Context, namespace, name string) (*corev1.ServiceAccount, error) {
	on := Operation{Target: Target{Resource: s.Types.Lookup("", "v1", "serviceaccounts"), Namespace: namespace, Name: name}}
	key := on.Key(s.Root)
	o, err := s.Load(ctx, key)
	if err == nil && o == nil && name == "default" {
		o, err = s.awaitObject(ctx, on.Resource.Collection, key, accountPatience)
	}
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, name)
	}
	obj, err := on.Decode(o)
	if err != nil {
		return nil, err
	}
	return obj.(*corev1.ServiceAccount), nil
}

// awaitObject returns an object of a collection as soon as there is one, nil if there is none in time.
func (s *Registry) awaitObject(ctx context.Context, collection, key string, patience time.Duration) (*storage.Object, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	w, err := s.Cache.Watch(collection, s.Cache.Revision())
	for err == nil {
		if o, _ := s.Cache.Get(key); o != nil {
			return s.readable(o)
		}
		if _, _, err = w.Next(ctx); ctx.Err() != nil {
			return nil, nil
		}
	}
	return nil, err
}
