package dynamic

import (
	"context"
	"encoding/json"
	"reflect"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecascade/kubecascade/apiserver/admission"
	"github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/expression"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// request is the data of one request for the webhooks or policies of one plugin. It is not safe for concurrent use.
type request struct {
	d *Admission
	a *admission.Attributes
	// namespace is the namespace of the request. For a request for a Namespace it is the name of that object (L-68).
	name, namespace string
	options         runtime.Object
	view            *view
	// versions caches the results of the method version.
	versions   map[*resources.Resource]*expression.Version
	authorizer expression.Authorizer
}

var namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")

func (d *Admission) request(ctx context.Context, a *admission.Attributes) *request {
	q := &request{
		d: d, a: a, name: a.Name, namespace: a.Namespace, view: newView(ctx, a), options: optionsOf(a),
		versions: map[*resources.Resource]*expression.Version{},
	}
	if a.Collection {
		q.name = ""
	}
	if resourceOf(a.Resource) == namespaces {
		q.namespace = q.name
	}
	return q
}

// optionsOf returns the options that webhooks and policies get. The operation determines their type, even for a PUT or
// a patch that creates an object (L-70).
func optionsOf(a *admission.Attributes) runtime.Object {
	var dryRun []string
	if a.DryRun {
		dryRun = []string{metav1.DryRunAll}
	}
	update := metav1.UpdateOptions{DryRun: dryRun}
	switch o := a.Options.(type) {
	case *metav1.CreateOptions:
		update = metav1.UpdateOptions{DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation}
	case *metav1.UpdateOptions:
		update = *o
	case *metav1.PatchOptions:
		update = metav1.UpdateOptions{DryRun: o.DryRun, FieldManager: o.FieldManager, FieldValidation: o.FieldValidation}
	case *metav1.DeleteOptions:
		out := *o
		return typed(&out, "DeleteOptions")
	}
	switch a.Operation {
	case admission.Create:
		return typed(&metav1.CreateOptions{
			DryRun: update.DryRun, FieldManager: update.FieldManager, FieldValidation: update.FieldValidation,
		}, "CreateOptions")
	case admission.Update:
		return typed(&update, "UpdateOptions")
	case admission.Delete:
		return typed(&metav1.DeleteOptions{DryRun: dryRun}, "DeleteOptions")
	}
	return nil
}

func typed(o runtime.Object, kind string) runtime.Object {
	o.GetObjectKind().SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind(kind))
	return o
}

// version returns the variables of expressions that describe the request, with its objects in the version of in.
func (q *request) version(in *resources.Resource) (*expression.Version, error) {
	if v := q.versions[in]; v != nil {
		return v, nil
	}
	object, err := q.view.Object(in)
	if err != nil {
		return nil, err
	}
	old, err := q.view.Old(in)
	if err != nil {
		return nil, err
	}
	r := expression.Request{
		Operation: string(q.a.Operation), Kind: q.a.Kind, Resource: resourceOf(q.a.Resource),
		Subresource: q.a.Subresource, Namespace: q.namespace, Name: q.name, Options: q.options, DryRun: q.a.DryRun,
		User: q.a.User,
	}
	v := r.In(q.view.kind(in), resourceOf(in), object, old)
	q.versions[in] = v
	return v, nil
}

// change replaces the object of the request by a changed one, which is in the version of a resource.
func (q *request) change(in *resources.Resource, obj runtime.Object) {
	clear(q.versions)
	q.view.Change(in, obj)
}

// lazyAuthorizer returns the value of the variable authorizer of expressions. The first call creates it.
func (q *request) lazyAuthorizer() expression.Authorizer {
	if q.authorizer == nil {
		q.authorizer = expression.AuthorizerOf(q.d.Authorizer())
	}
	return q.authorizer
}

// namespaceLabels returns the labels that a namespaceSelector matches (L-37, L-38).
func (q *request) namespaceLabels(ctx context.Context) (labels.Set, error) {
	set, ok, err := q.d.Lookup.NamespaceLabels(ctx, q.namespace)
	switch {
	case err != nil:
		return nil, &admission.LookupError{What: "looking up namespace " + q.namespace, Err: err}
	case !ok:
		return nil, apierrors.NewNotFound(namespaces.GroupResource(), q.namespace)
	}
	return set, nil
}

// selected reports whether a namespaceSelector and an objectSelector match the request. If the objectSelector does not
// match, errors of the namespaceSelector are ignored (L-30).
func (q *request) selected(ctx context.Context, ofNamespace, ofObject labels.Selector) (bool, error) {
	if !ofObject.Empty() {
		object, old, err := q.labels()
		if err != nil || !webhook.Selects(ofObject, object, old) {
			return false, err
		}
	}
	t := webhook.Target{
		Resource: resourceOf(q.a.Resource), Subresource: q.a.Subresource, Namespace: q.namespace,
		Operation: admissionv1.OperationType(q.a.Operation),
	}
	var own labels.Set
	if t.Resource.Resource == namespaces.Resource && !ofNamespace.Empty() { // for any group, as in InNamespace
		object, _, err := q.labels()
		if err != nil {
			return false, err
		}
		if object != nil {
			own = *object
		}
	}
	return t.InNamespace(ofNamespace, own, func() (labels.Set, error) { return q.namespaceLabels(ctx) })
}

// labels returns the labels of the new and of the stored object. Each is nil if the object does not exist or has no
// metadata. The labels are those of the version of the request, because objects are not converted (ASW
// predicates/object/matcher.go).
func (q *request) labels() (object, old *labels.Set, err error) {
	obj, was, err := q.view.AsSent()
	if err != nil {
		return nil, nil, &admission.LookupError{What: "reading the labels of " + q.name, Err: err}
	}
	return labelsOf(obj), labelsOf(was), nil
}

func labelsOf(obj runtime.Object) *labels.Set {
	if obj == nil || reflect.ValueOf(obj).IsNil() {
		return nil
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	set := labels.Set(m.GetLabels())
	return &set
}

// encoded returns an object as JSON, or nil if there is no object.
func encoded(obj runtime.Object, err error) ([]byte, error) {
	if err != nil || obj == nil {
		return nil, err
	}
	return json.Marshal(obj)
}

// failurePolicy returns the failurePolicy Ignore or Fail.
func failurePolicy(ignore bool) *admissionv1.FailurePolicyType {
	if ignore {
		return new(admissionv1.Ignore)
	}
	return new(admissionv1.Fail)
}
