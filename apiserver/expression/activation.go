package expression

import (
	"github.com/google/cel-go/interpreter"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

// activation has the values of the variables in expressions.
type activation struct {
	object, old, params, request, namespace, authorizer, resourceAuthorizer, variables any
}

// ResolveName implements interpreter.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case plugincel.ObjectVarName:
		return a.object, true
	case plugincel.OldObjectVarName:
		return a.old, true
	case plugincel.ParamsVarName:
		return a.params, true
	case plugincel.RequestVarName:
		return a.request, true
	case plugincel.NamespaceVarName:
		return a.namespace, true
	case plugincel.AuthorizerVarName:
		return a.authorizer, a.authorizer != nil
	case plugincel.RequestResourceAuthorizerVarName:
		return a.resourceAuthorizer, a.resourceAuthorizer != nil
	case plugincel.VariableVarName:
		return a.variables, true
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (*activation) Parent() interpreter.Activation { return nil }

// activation returns the values for expressions, without the policy's variables.
func (v *Version) activation(resource schema.GroupVersionResource, b Bindings) (*activation, error) {
	a := &activation{}
	var err error
	if a.object, a.old, err = v.objects(); err != nil {
		return nil, err
	}
	if a.request, err = v.request(resource); err != nil {
		return nil, err
	}
	if a.namespace, err = v.namespace(b.Namespace, b.whole); err != nil {
		return nil, err
	}
	if a.params, err = fields(b.Params); err != nil {
		return nil, err
	}
	if b.Authorizer != nil {
		user := v.typed.GetUserInfo()
		a.authorizer = library.NewAuthorizerVal(user, b.Authorizer)
		a.resourceAuthorizer = library.NewResourceAuthorizerVal(user, b.Authorizer, v.typed)
	}
	return a, nil
}

// converted caches converted values, because conversion costs more than the evaluation of most expressions.
type converted struct {
	objects     bool // object and old are set
	object, old any
	// requests are the values of request by matched resource. There are at most two.
	requests map[schema.GroupVersionResource]any
	// namespace has the fields of from that expressions can use.
	namespace any
	from      *corev1.Namespace
}

func (v *Version) objects() (object, old any, err error) {
	c := &v.converted
	if !c.objects {
		if c.object, err = fields(v.typed.VersionedObject.Object()); err != nil {
			return nil, nil, err
		}
		if c.old, err = fields(v.typed.VersionedOldObject.Object()); err != nil {
			return nil, nil, err
		}
		c.objects = true
	}
	return c.object, c.old, nil
}

func (v *Version) request(resource schema.GroupVersionResource) (any, error) {
	if made, ok := v.converted.requests[resource]; ok {
		return made, nil
	}
	made, err := runtime.DefaultUnstructuredConverter.ToUnstructured(plugincel.CreateAdmissionRequest(
		v.typed.Attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(v.Kind),
	))
	if err != nil {
		return nil, err
	}
	if v.converted.requests == nil {
		v.converted.requests = map[schema.GroupVersionResource]any{}
	}
	v.converted.requests[resource] = made
	return made, nil
}

func (v *Version) namespace(ns *corev1.Namespace, whole bool) (any, error) {
	switch {
	case ns == nil:
		return nil, nil
	case whole:
		return fields(ns)
	case v.converted.from == ns:
		return v.converted.namespace, nil
	}
	made, err := fields(plugincel.CreateNamespaceObject(ns))
	if err == nil {
		v.converted.namespace, v.converted.from = made, ns
	}
	return made, err
}
