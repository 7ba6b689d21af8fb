package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admreg "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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

// plugin is the kind of a webhook.
type plugin string

const (
	mutates   plugin = "m"
	validates plugin = "v"
)

// webhookCase is one request with one webhook. The file of the cases describes the fields.
type webhookCase struct {
	Name string
	HTTP *struct {
		Code       int
		Type, Body string
	}
	Review      *admissionv1.AdmissionResponse
	Patch       string
	Hang, Abort bool
	Hook        json.RawMessage
	// Operation is the operation of the request; the default is a create. Namespace is that of the pod; the default is
	// default.
	Operation            admission.Operation
	Namespace            string
	DryRun, GenerateName bool
	// Only restricts the case to one kind.
	Only plugin
}

func (c webhookCase) run(s *server, k plugin) error {
	s.now = c
	configuration, err := c.configuration(s, k)
	if err != nil {
		return err
	}
	cs := fake.NewClientset(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, configuration)
	w := &warnings{}
	ctx, cancel := context.WithTimeout(warning.WithWarningRecorder(context.Background(), w), 5*time.Second)
	defer cancel()
	fmt.Printf("%-34s %s\n", c.Name, shown(call(ctx, k, cs, c.request()), w.all))
	if c.Name == "allowed" {
		fmt.Println("   REQUEST", s.request)
		fmt.Println("   BODY", mask(string(s.body)))
	}
	return nil
}

func (c webhookCase) configuration(s *server, k plugin) (runtime.Object, error) {
	base, err := json.Marshal(map[string]any{
		"name": "hook.example.com", "clientConfig": map[string]any{"url": s.URL + "/hook", "caBundle": s.ca},
		"failurePolicy": "Fail", "sideEffects": "None", "timeoutSeconds": 10, "admissionReviewVersions": []string{"v1"},
		"namespaceSelector": map[string]any{}, "objectSelector": map[string]any{},
		"rules": []admreg.RuleWithOperations{{
			Operations: []admreg.OperationType{"*"},
			Rule:       admreg.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}},
		}},
	})
	if err != nil {
		return nil, err
	}
	edit := []byte("{}")
	if c.Hook != nil {
		edit = []byte(strings.NewReplacer("${LOCALHOST}", strings.Replace(s.URL, "127.0.0.1", "localhost", 1),
			"${PLAIN}", strings.Replace(s.plain.URL, "http", "https", 1)).Replace(string(c.Hook)))
	}
	named := metav1.ObjectMeta{Name: "conf"}
	if k == mutates {
		o := &admreg.MutatingWebhookConfiguration{ObjectMeta: named, Webhooks: make([]admreg.MutatingWebhook, 1)}
		return o, errors.Join(json.Unmarshal(base, &o.Webhooks[0]), json.Unmarshal(edit, &o.Webhooks[0]))
	}
	o := &admreg.ValidatingWebhookConfiguration{ObjectMeta: named, Webhooks: make([]admreg.ValidatingWebhook, 1)}
	return o, errors.Join(json.Unmarshal(base, &o.Webhooks[0]), json.Unmarshal(edit, &o.Webhooks[0]))
}

// request returns a request of alice for a pod.
func (c webhookCase) request() admission.Attributes {
	pod := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if c.GenerateName {
		pod.Name, pod.GenerateName = "", "gen-"
	}
	namespace, op := "default", admission.Create
	if c.Namespace != "" {
		namespace = c.Namespace
	}
	options := metav1.TypeMeta{Kind: "CreateOptions", APIVersion: "meta.k8s.io/v1"}
	var obj, old, opts runtime.Object = pod, nil, &metav1.CreateOptions{TypeMeta: options}
	if c.Operation == admission.Delete {
		options.Kind = "DeleteOptions"
		op, obj, old, opts = c.Operation, nil, pod, &metav1.DeleteOptions{TypeMeta: options}
	}
	return admission.NewAttributesRecord(
		obj, old, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, namespace, pod.Name,
		schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", op, opts, c.DryRun,
		&user.DefaultInfo{Name: "alice", Groups: []string{"g"}},
	)
}

// call lets the plugin decide on a request with the configuration in cs.
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

// external has the methods by which plugins get their dependencies.
type external interface {
	SetExternalKubeClientSet(kubernetes.Interface)
	SetExternalKubeInformerFactory(informers.SharedInformerFactory)
	admission.InitializationValidator
}

// start starts a plugin, until stop is closed. err is the error of the plugin's constructor.
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

// warnings collects the warnings of one request.
type warnings struct{ all []string }

// AddWarning implements warning.Recorder.
func (w *warnings) AddWarning(_, text string) { w.all = append(w.all, text) }

// shown returns the plugin's response in one line.
func shown(err error, warnings []string) string {
	var s apierrors.APIStatus
	switch {
	case err == nil:
		return fmt.Sprintf("OK warnings=%q", warnings)
	case !errors.As(err, &s):
		return fmt.Sprintf("plain %T | %s", err, mask(err.Error()))
	}
	st, details := s.Status(), ""
	if st.Details != nil {
		b, _ := json.Marshal(st.Details) // strings and numbers
		details = string(b)
	}
	return fmt.Sprintf("%d %s | %s | %s", st.Code, st.Reason, mask(st.Message), mask(details))
}

var (
	uids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	ports = regexp.MustCompile(`127\.0\.0\.1:\d+`)
)

// mask replaces values that differ from run to run.
func mask(s string) string {
	return ports.ReplaceAllString(uids.ReplaceAllString(s, "<uid>"), "HOST")
}
