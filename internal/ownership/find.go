package ownership

import (
	"cmp"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/requestinfo"
	"github.com/kubecascade/kubecascade/apiserver/status"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/storage"
)

// finder finds the objects that a question names, for its user.
type finder struct {
	*source
	by   authorization.Authorizer
	user authorization.User
}

// row finds the resource that an object is named by.
func (f *finder) row(n named) (*row, error) {
	var res *cluster.Resource
	switch {
	case n.Resource != "" && n.Kind != "":
		return nil, status.BadRequest("resource and kind can't both be used")
	case n.Resource != "":
		found, err := f.table.Resolve(n.Resource)
		if err != nil {
			return nil, status.BadRequest("%v", err)
		}
		res = found
	case n.Kind != "" && n.APIVersion != "":
		res = f.table.Kind(n.APIVersion, n.Kind)
	}
	if res == nil {
		return nil, status.BadRequest("the server doesn't serve resource %q, kind %q of %q", n.Resource, n.Kind, n.APIVersion)
	}
	r := f.table.names[res.Name()]
	if r == nil {
		return nil, status.BadRequest("objects of %s are not stored", res.Name())
	}
	return r, nil
}

// keys are the objects of a question. Errors: 400, 403, 404 (unless absent objects are left out), and 409 if the uid is
// another one.
func (f *finder) keys(ask *question) ([]graph.Key, error) {
	if ask.selector != nil {
		return f.selected(ask.of, ask.selector)
	}
	var keys []graph.Key
	ask.absent = nil
	for _, n := range ask.objects {
		k, err := f.key(n)
		switch {
		case err == nil:
			keys = append(keys, k)
		case ask.ignore && n.Name != "" && apierrors.IsNotFound(err):
			ask.absent = append(ask.absent, k)
		default:
			return nil, err
		}
	}
	return keys, nil
}

func (f *finder) key(n named) (graph.Key, error) {
	if n.Name == "" && n.UID != "" {
		for _, o := range f.WithUID(n.UID) {
			return o.Key, nil
		}
		return graph.Key{}, cmp.Or[error](f.err, apierrors.NewNotFound(schema.GroupResource{Resource: "uid"}, n.UID))
	}
	r, err := f.row(n)
	if err != nil {
		return graph.Key{}, err
	}
	k := graph.Key{Collection: r.Name(), Name: n.Name}
	switch {
	case n.Name == "":
		return k, status.ErrEmptyName
	case r.Namespaced && n.Namespace == "":
		return k, status.BadRequest("%s are namespaced: a namespace is required", r.Name())
	case r.Namespaced:
		k.Namespace = n.Namespace
	}
	if err := f.allowed(r, k.Namespace); err != nil {
		return k, err
	}
	gr := schema.GroupResource{Group: r.Group, Resource: r.Plural}
	switch o := f.Object(k); {
	case o == nil:
		return k, cmp.Or[error](f.err, apierrors.NewNotFound(gr, n.Name))
	case n.UID != "" && o.UID != n.UID:
		return k, apierrors.NewConflict(gr, n.Name, fmt.Errorf("the UID in the precondition is %s, that of the object is %s",
			n.UID, o.UID))
	}
	return k, nil
}

// allowed is the 403 of the list that would show the object, unless the user may see it.
func (f *finder) allowed(r *row, namespace string) error {
	if f.may(r, namespace) {
		return nil
	}
	a := r.list(f.user, namespace)
	return requestinfo.Forbidden(a, f.by.Authorize(a).Reason())
}

// selected are the objects of a resource that a label selector selects, in the namespace or in all.
func (f *finder) selected(of named, selector labels.Selector) (keys []graph.Key, err error) {
	r, err := f.row(of)
	if err != nil {
		return nil, err
	}
	namespace := of.Namespace
	if !r.Namespaced {
		namespace = ""
	}
	if err := f.allowed(r, namespace); err != nil {
		return nil, err
	}
	f.each(r, namespace, func(o *storage.Object) bool {
		if o.Err == nil && selector.Matches(labels.Set(o.Meta.Labels)) {
			keys = append(keys, graph.Key{Collection: r.Name(), Namespace: o.Meta.Namespace, Name: o.Meta.Name})
		}
		return len(keys) <= MostDeletions
	})
	if len(keys) > MostDeletions {
		return nil, tooMany(len(keys))
	}
	return keys, f.err
}

// unavailable are the APIServices that are not available, if the user may list them.
func (f *finder) unavailable() (out []explain.Unavailable) {
	r := f.table.names["apiservices.apiregistration.k8s.io"]
	if r == nil || f.reach[r] != all {
		return nil
	}
	f.each(r, "", func(o *storage.Object) bool {
		var s apiregistrationv1.APIService
		if json.Unmarshal(o.JSON, &s) == nil {
			out = append(out, cluster.Unavailable(&s)...)
		}
		return true
	})
	return out
}
