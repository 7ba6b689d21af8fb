package dynamic

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage"
)

// Errors of bindings, with upstream's messages (M-27, M-28; ASP generic/policy_dispatcher.go: CollectParams).
var (
	errNoParams     = errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	errNoNamespace  = errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	errNotNamespace = errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
)

// null are the params of a policy or a binding without params (M-25).
var null = []runtime.Object{nil}

// paramResource returns the resource of a policy's params, or nil if it has none. An error is about the policy (M-29).
func (q *request) paramResource(p *policy) (*resources.Resource, error) {
	if p.params == nil {
		return nil, nil
	}
	res := q.d.Types.Kind(*p.params)
	if res == nil || res.Virtual || res.Collection == "" {
		return nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", *p.params)
	}
	return res, nil
}

// paramsOf returns the params of a binding, ordered by name. The result is empty if there are none and the binding
// allows that. An error is about the binding.
func (q *request) paramsOf(ctx context.Context, res *resources.Resource, b *binding) ([]runtime.Object, error) {
	if res == nil || b.ref == nil {
		return null, nil
	}
	if b.invalid != nil {
		return nil, b.invalid
	}
	namespace, err := q.paramNamespace(res, b.ref)
	if err != nil {
		return nil, err
	}
	var found []*storage.Object
	if b.ref.Name != "" {
		var o *storage.Object
		if o, err = q.d.Objects.One(ctx, res, namespace, b.ref.Name); o != nil {
			found = append(found, o)
		}
	} else if b.selector != nil {
		err = q.d.Objects.Each(res, namespace, func(o *storage.Object) {
			if b.selector.Matches(labels.Set(o.Meta.Labels)) {
				found = append(found, o)
			}
		})
	}
	if err != nil {
		return nil, err
	}
	if action := b.ref.ParameterNotFoundAction; len(found) == 0 && action != nil && *action == admissionv1.DenyAction {
		return nil, errNoParams
	}
	return q.decoded(ctx, res, found)
}

// paramNamespace returns the namespace of a binding's params (M-27).
func (q *request) paramNamespace(res *resources.Resource, ref *admissionv1.ParamRef) (string, error) {
	switch {
	case !res.Namespaced && ref.Namespace != "":
		return "", errNotNamespace
	case !res.Namespaced:
		return "", nil
	case ref.Namespace != "":
		return ref.Namespace, nil
	case q.namespace == "":
		return "", errNoNamespace
	}
	return q.namespace, nil
}

// decoded returns params in the version of paramKind.
func (q *request) decoded(
	ctx context.Context, res *resources.Resource, found []*storage.Object,
) ([]runtime.Object, error) {
	out := make([]runtime.Object, len(found))
	for i, o := range found {
		obj, err := q.d.params.get(res, o, func() (runtime.Object, error) {
			obj, err := q.d.Objects.Served(res.During(ctx), o)
			if err != nil {
				return nil, err
			}
			// JSON patches of the library can't have values of typed objects.
			fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
			return &unstructured.Unstructured{Object: fields}, err
		})
		if err != nil {
			return nil, err
		}
		out[i] = obj
	}
	return out, nil
}

// nameOf returns the namespace and name of a param. They are empty for null.
func nameOf(param runtime.Object) (namespace, name string) {
	if m, ok := param.(metav1.Object); ok {
		return m.GetNamespace(), m.GetName()
	}
	return "", ""
}
