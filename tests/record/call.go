package main

import (
	"context"
	"fmt"
	"time"

	admreg "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
)

type hook = admreg.MutatingWebhook

// plugin is the kind of a webhook.
type plugin string

const (
	mutates   plugin = "m"
	validates plugin = "v"
)

// webhookCase is one request with one webhook.
type webhookCase struct {
	name string
	// answer is ok if it is nil.
	answer answer
	// edit changes a webhook that fails closed and matches everything; nil changes nothing.
	edit func(h *hook)
	// op is Create if it is empty.
	op  admission.Operation
	dry bool
	// gen: the request has a generateName.
	gen bool
	// only restricts the case to one kind.
	only plugin
	// cluster: the request's namespace does not exist.
	cluster bool
}

// hook is the case's webhook; a validating one has the same fields.
func (c webhookCase) hook(s *server) hook {
	fail, none, ten := admreg.Fail, admreg.SideEffectClassNone, int32(10)
	h := hook{Name: "hook.example.com",
		ClientConfig: admreg.WebhookClientConfig{URL: &s.url, CABundle: s.ca}, FailurePolicy: &fail, SideEffects: &none,
		TimeoutSeconds: &ten, AdmissionReviewVersions: []string{"v1"}, NamespaceSelector: &metav1.LabelSelector{},
		ObjectSelector: &metav1.LabelSelector{},
		Rules: []admreg.RuleWithOperations{{
			Operations: []admreg.OperationType{"*"},
			Rule:       admreg.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}},
		}}}
	if c.edit != nil {
		c.edit(&h)
	}
	return h
}

// configuration has the webhook.
func configuration(k plugin, h hook) runtime.Object {
	named := metav1.ObjectMeta{Name: "conf"}
	if k == mutates {
		return &admreg.MutatingWebhookConfiguration{ObjectMeta: named, Webhooks: []admreg.MutatingWebhook{h}}
	}
	v := admreg.ValidatingWebhook{
		Name: h.Name, ClientConfig: h.ClientConfig, FailurePolicy: h.FailurePolicy, SideEffects: h.SideEffects,
		TimeoutSeconds: h.TimeoutSeconds, AdmissionReviewVersions: h.AdmissionReviewVersions,
		NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector, Rules: h.Rules,
		MatchConditions: h.MatchConditions,
	}
	return &admreg.ValidatingWebhookConfiguration{ObjectMeta: named, Webhooks: []admreg.ValidatingWebhook{v}}
}

// request is one of alice for a pod.
func (c webhookCase) request() admission.Attributes {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	name, ns, op := "p", "default", admission.Create
	if c.gen {
		pod.Name, pod.GenerateName, name = "", "gen-", ""
	}
	if c.cluster {
		ns = "absent"
	}
	var obj, old runtime.Object = pod, nil
	var opts runtime.Object = &metav1.CreateOptions{
		TypeMeta: metav1.TypeMeta{Kind: "CreateOptions", APIVersion: "meta.k8s.io/v1"},
	}
	if c.op == admission.Delete {
		op, obj, old = c.op, nil, pod
		opts = &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "meta.k8s.io/v1"}}
	}
	return admission.NewAttributesRecord(
		obj, old, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, ns, name,
		schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", op, opts, c.dry,
		&user.DefaultInfo{Name: "alice", Groups: []string{"g"}},
	)
}

func (c webhookCase) run(s *server, k plugin) {
	if s.answer = c.answer; s.answer == nil {
		s.answer = ok
	}
	cs := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
		configuration(k, c.hook(s)))
	w := &warnings{}
	ctx, cancel := context.WithTimeout(warning.WithWarningRecorder(context.Background(), w), 5*time.Second)
	defer cancel()
	report(c.name, call(ctx, k, cs, c.request()), w.all)
	if c.name == "allowed" {
		fmt.Println("   REQUEST", s.request)
		fmt.Println("   BODY", mask(string(s.body)))
	}
}

// call has the plugin decide on a request with the configuration that cs has.
func call(ctx context.Context, k plugin, cs *fake.Clientset, a admission.Attributes) error {
	stop := make(chan struct{})
	defer close(stop)
	types := admission.NewObjectInterfacesFromScheme(scheme.Scheme)
	if k == mutates {
		p, err := mutating.NewMutatingWebhook(nil)
		start(p, err, cs, stop)
		return p.Admit(ctx, a, types)
	}
	p, err := validating.NewValidatingAdmissionWebhook(nil)
	start(p, err, cs, stop)
	return p.Validate(ctx, a, types)
}

// external is what the plugins need from outside.
type external interface {
	SetExternalKubeClientSet(kubernetes.Interface)
	SetExternalKubeInformerFactory(informers.SharedInformerFactory)
	admission.InitializationValidator
}

// start starts a plugin that was made with err, until stop is closed.
func start(p external, err error, cs *fake.Clientset, stop chan struct{}) {
	if err != nil {
		panic(err)
	}
	f := informers.NewSharedInformerFactory(cs, 0)
	p.SetExternalKubeClientSet(cs)
	p.SetExternalKubeInformerFactory(f)
	if err := p.ValidateInitialization(); err != nil {
		panic(err)
	}
	f.Start(stop)
	f.WaitForCacheSync(stop)
}
