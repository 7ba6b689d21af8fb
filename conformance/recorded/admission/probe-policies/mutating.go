package main

import (
	"context"

	admreg "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	clientgoapplyconfig "k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

// converters has the same converter for all kinds: that of client-go's types.
type converters struct{ managedfields.TypeConverter }

func (c converters) GetTypeConverter(schema.GroupVersionKind) managedfields.TypeConverter {
	return c.TypeConverter
}

func (converters) Run(context.Context) {}

// mutatingCase is one creation of a pod with one policy.
type mutatingCase struct {
	name string
	muts []admreg.Mutation
	// edit changes a policy that fails closed and matches everything; nil changes nothing.
	edit func(p *admreg.MutatingAdmissionPolicy)
}

// client has the namespace, the policy and its binding.
func (c mutatingCase) client() *fake.Clientset {
	fail := admreg.Fail
	p := &admreg.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "pol.example.com", ResourceVersion: "1"},
		Spec: admreg.MutatingAdmissionPolicySpec{
			FailurePolicy: &fail, MatchConstraints: everything(), Mutations: c.muts, ReinvocationPolicy: "Never",
		},
	}
	b := &admreg.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "bind"}, Spec: admreg.MutatingAdmissionPolicyBindingSpec{PolicyName: p.Name},
	}
	if c.edit != nil {
		c.edit(p)
	}
	return fake.NewClientset(namespace(), p, b)
}

// source has the policies that are in force.
func source(
	f informers.SharedInformerFactory, _ kubernetes.Interface, d dynamic.Interface, m meta.RESTMapper,
) generic.Source[mutating.PolicyHook] {
	v1 := f.Admissionregistration().V1()
	return generic.NewPolicySource(v1.MutatingAdmissionPolicies().Informer(),
		v1.MutatingAdmissionPolicyBindings().Informer(), mutating.NewMutatingAdmissionPolicyAccessor,
		mutating.NewMutatingAdmissionPolicyBindingAccessor, compile, f, d, m)
}

// dispatcher applies them.
func dispatcher(
	a authorizer.Authorizer, m *matching.Matcher, _ kubernetes.Interface,
) generic.Dispatcher[mutating.PolicyHook] {
	return mutating.NewDispatcher(a, m, converters{clientgoapplyconfig.NewTypeConverter(scheme.Scheme)})
}

// plugin runs until stop is closed. Upstream's constructor gets types from an OpenAPI document, which the fake
// clientset does not have.
func (c mutatingCase) plugin(stop chan struct{}) *generic.Plugin[mutating.PolicyHook] {
	p := generic.NewPlugin[mutating.PolicyHook](
		admission.NewHandler(admission.Create, admission.Update), source, dispatcher)
	p.SetEnabled(true)
	start(p, meta.NewDefaultRESTMapper(nil), c.client(), stop)
	return p
}

func (c mutatingCase) run() {
	stop := make(chan struct{})
	defer close(stop)
	o := pod()
	request := attributes(o, nil, "p", admission.Create, &metav1.CreateOptions{})
	err := c.plugin(stop).Dispatch(context.Background(), request,
		admission.NewObjectInterfacesFromScheme(scheme.Scheme))
	report(c.name, err, nil, nil, o)
}
