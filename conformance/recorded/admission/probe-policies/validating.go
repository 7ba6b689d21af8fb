package main

import (
	"context"

	admreg "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	auditapi "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

type (
	policy  = admreg.ValidatingAdmissionPolicy
	binding = admreg.ValidatingAdmissionPolicyBinding
)

// validatingCase is one request with one policy, or two equal ones.
type validatingCase struct {
	name string
	// edit changes a policy that fails closed and matches everything, and a binding that denies.
	edit func(p *policy, b *binding)
	// gen: the request has a generateName.
	gen  bool
	objs []runtime.Object
	two  bool
	// op is Create if it is empty.
	op admission.Operation
}

// objects are what the plugin reads: the namespace, the policies and their bindings, and those of the case.
func (c validatingCase) objects() []runtime.Object {
	fail := admreg.Fail
	p := &policy{
		ObjectMeta: metav1.ObjectMeta{Name: "pol.example.com", ResourceVersion: "1"},
		Spec:       admreg.ValidatingAdmissionPolicySpec{FailurePolicy: &fail, MatchConstraints: everything()},
	}
	b := &binding{ObjectMeta: metav1.ObjectMeta{Name: "bind"}, Spec: admreg.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: p.Name, ValidationActions: []admreg.ValidationAction{"Deny"},
	}}
	c.edit(p, b)
	objs := append([]runtime.Object{namespace(), p, b}, c.objs...)
	if c.two {
		p2, b2 := p.DeepCopy(), b.DeepCopy()
		p2.Name, b2.Name, b2.Spec.PolicyName = "a.example.com", "abind", "a.example.com"
		objs = append(objs, p2, b2)
	}
	return objs
}

// plugin runs until stop is closed.
func (c validatingCase) plugin(stop chan struct{}) admission.ValidationInterface {
	p, err := validating.NewPlugin(nil)
	if err != nil {
		panic(err)
	}
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, meta.RESTScopeNamespace)
	mapper.Add(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, meta.RESTScopeRoot)
	start(p, mapper, fake.NewClientset(c.objects()...), stop)
	return admission.WithAudit(p).(admission.ValidationInterface)
}

// request is the one that the plugin judges.
func (c validatingCase) request() admission.Attributes {
	o, name := pod(), "p"
	if c.gen {
		o.Name, o.GenerateName, name = "", "gen-", ""
	}
	if c.op == admission.Delete {
		return attributes(nil, o, name, c.op, &metav1.DeleteOptions{
			TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "meta.k8s.io/v1"},
		})
	}
	return attributes(o, nil, name, admission.Create, &metav1.CreateOptions{
		TypeMeta: metav1.TypeMeta{Kind: "CreateOptions", APIVersion: "meta.k8s.io/v1"},
	})
}

func (c validatingCase) run() {
	stop := make(chan struct{})
	defer close(stop)
	w := &warnings{}
	ctx := audit.WithAuditContext(warning.WithWarningRecorder(context.Background(), w))
	events := audit.AuditContextFrom(ctx)
	events.Init(audit.RequestAuditConfig{Level: auditapi.LevelRequestResponse}, nil)
	err := c.plugin(stop).Validate(ctx, c.request(), admission.NewObjectInterfacesFromScheme(scheme.Scheme))
	report(c.name, err, w.all, events.GetEventAnnotations(), nil)
}
