// Command probe-webhooks runs upstream's plugins for admission webhooks, and prints what they answer.
package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
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
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
)

type plug interface {
	SetExternalKubeClientSet(c interface{})
}

type rec struct{ w []string }

func (r *rec) AddWarning(agent, text string) { r.w = append(r.w, text) }

func show(name string, err error, warns []string) {
	if err == nil {
		fmt.Printf("%-34s OK warnings=%q\n", name, warns)
		return
	}
	var s apierrors.APIStatus
	if errors.As(err, &s) {
		st := s.Status()
		d := ""
		if st.Details != nil {
			b, _ := json.Marshal(st.Details)
			d = string(b)
		}
		fmt.Printf("%-34s %d %s | %s | %s\n", name, st.Code, st.Reason, mask(st.Message), mask(d))
		return
	}
	fmt.Printf("%-34s plain %T | %s\n", name, err, mask(err.Error()))
}

var uidRE = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
var portRE = regexp.MustCompile(`127\.0\.0\.1:\d+`)

func mask(s string) string {
	return portRE.ReplaceAllString(uidRE.ReplaceAllString(s, "<uid>"), "HOST")
}

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	log.SetOutput(io.Discard)
	var answer func(w http.ResponseWriter, r *http.Request, rv *admissionv1.AdmissionReview)
	var last []byte
	var lastURL string
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		last = b
		lastURL = r.URL.String() + " " + fmt.Sprint(r.Header) + " " + r.Proto
		rv := &admissionv1.AdmissionReview{}
		json.Unmarshal(b, rv)
		answer(w, r, rv)
	}))
	defer srv.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	respond := func(w http.ResponseWriter, rv *admissionv1.AdmissionReview, resp *admissionv1.AdmissionResponse) {
		if resp != nil && resp.UID == "" {
			resp.UID = rv.Request.UID
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Response: resp,
		})
	}
	raw := func(code int, ct, body string) func(http.ResponseWriter, *http.Request, *admissionv1.AdmissionReview) {
		return func(w http.ResponseWriter, r *http.Request, rv *admissionv1.AdmissionReview) {
			if ct != "" {
				w.Header().Set("Content-Type", ct)
			}
			w.WriteHeader(code)
			io.WriteString(w, strings.ReplaceAll(body, "UID", string(rv.Request.UID)))
		}
	}
	jp := admissionv1.PatchTypeJSONPatch
	bad := admissionv1.PatchType("Foo")
	empty := admissionv1.PatchType("")
	patch := func(
		p string, pt *admissionv1.PatchType,
	) func(http.ResponseWriter, *http.Request, *admissionv1.AdmissionReview) {
		return func(w http.ResponseWriter, r *http.Request, rv *admissionv1.AdmissionReview) {
			respond(w, rv, &admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(p), PatchType: pt})
		}
	}
	deny := func(st *metav1.Status) func(http.ResponseWriter, *http.Request, *admissionv1.AdmissionReview) {
		return func(w http.ResponseWriter, r *http.Request, rv *admissionv1.AdmissionReview) {
			respond(
				w, rv, &admissionv1.AdmissionResponse{Allowed: false, Result: st, Warnings: []string{"w1", "multi\nline", ""}},
			)
		}
	}
	type tc struct {
		name    string
		answer  func(http.ResponseWriter, *http.Request, *admissionv1.AdmissionReview)
		edit    func(h *admreg.MutatingWebhook)
		op      admission.Operation
		dry     bool
		gen     bool
		only    string
		cluster bool
	}
	url := srv.URL + "/hook"
	none := admreg.SideEffectClassNone
	some := admreg.SideEffectClassSome
	refused := "https://127.0.0.1:1/hook"
	httpURL := "http" + strings.TrimPrefix(srv.URL, "https")
	_ = httpURL
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	plainURL := "https" + strings.TrimPrefix(plain.URL, "http")
	one := int32(1)
	ok := func(w http.ResponseWriter, r *http.Request, rv *admissionv1.AdmissionReview) {
		respond(w, rv, &admissionv1.AdmissionResponse{Allowed: true})
	}
	cases := []tc{
		{name: "allowed", answer: ok},
		{name: "connection refused", edit: func(h *admreg.MutatingWebhook) { h.ClientConfig.URL = &refused }},
		{name: "refused, Ignore", edit: func(h *admreg.MutatingWebhook) {
			h.ClientConfig.URL = &refused
			i := admreg.Ignore
			h.FailurePolicy = &i
		}},
		{name: "timeout 1s", answer: func(w http.ResponseWriter, r *http.Request, rv *admissionv1.AdmissionReview) {
			time.Sleep(1500 * time.Millisecond)
		}, edit: func(h *admreg.MutatingWebhook) { h.TimeoutSeconds = &one }},
		{name: "unknown CA", answer: ok, edit: func(h *admreg.MutatingWebhook) { h.ClientConfig.CABundle = nil }},
		{name: "bad caBundle", answer: ok, edit: func(h *admreg.MutatingWebhook) { h.ClientConfig.CABundle = []byte("x") }},
		{name: "wrong host name", answer: ok, edit: func(h *admreg.MutatingWebhook) {
			u := strings.Replace(url, "127.0.0.1", "localhost", 1)
			h.ClientConfig.URL = &u
		}},
		{name: "plain http server", edit: func(h *admreg.MutatingWebhook) { h.ClientConfig.URL = &plainURL }},
		{name: "service default resolver", edit: func(h *admreg.MutatingWebhook) {
			h.ClientConfig.URL = nil
			p := "/x"
			h.ClientConfig.Service = &admreg.ServiceReference{Namespace: "nsx", Name: "svcx", Path: &p}
		}},
		{name: "500 text", answer: raw(500, "text/plain", "boom")},
		{name: "500 no content type", answer: raw(500, "", "boom")},
		{name: "500 json", answer: raw(500, "application/json", `{"a":1}`)},
		{name: "403 Status body", answer: raw(
			403, "application/json",
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"go away","reason":"Forbidden","code":403}`,
		)},
		{name: "404 text", answer: raw(404, "text/plain; charset=utf-8", "404 page not found\n")},
		{name: "401", answer: raw(401, "text/plain", "who")},
		{name: "503", answer: raw(503, "text/plain", "later")},
		{name: "302", answer: raw(302, "text/plain", "later")},
		{name: "204 empty", answer: raw(204, "application/json", "")},
		{name: "200 empty", answer: raw(200, "application/json", "")},
		{name: "200 not json", answer: raw(200, "application/json", "hello")},
		{name: "200 {}", answer: raw(200, "application/json", "{}")},
		{name: "200 other kind", answer: raw(200, "application/json", `{"kind":"Pod","apiVersion":"v1"}`)},
		{name: "200 Status failure", answer: raw(
			200, "application/json",
			`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"go away","reason":"Forbidden","code":403}`,
		)},
		{
			name:   "200 Status success",
			answer: raw(200, "application/json", `{"kind":"Status","apiVersion":"v1","status":"Success"}`),
		},
		{name: "200 text/plain valid", answer: raw(
			200, "text/plain",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":true}}`,
		)},
		{name: "200 text/html", answer: raw(200, "text/html", `<html>`)},
		{name: "200 bad content type", answer: raw(200, ";;", `x`)},
		{name: "201 valid", answer: raw(
			201, "application/json",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":true}}`,
		)},
		{
			name:   "no response",
			answer: raw(200, "application/json", `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`),
		},
		{name: "wrong uid", answer: raw(
			200, "application/json",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"x","allowed":true}}`,
		)},
		{name: "v1beta1 answer", answer: raw(
			200, "application/json",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"uid":"UID","allowed":true}}`,
		)},
		{
			name:   "no kind",
			answer: raw(200, "application/json", `{"apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":true}}`),
		},
		{name: "no kind nor version", answer: raw(200, "application/json", `{"response":{"uid":"UID","allowed":true}}`)},
		{name: "unknown field", answer: raw(
			200, "application/json",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","foo":1,"response":{"uid":"UID","allowed":true}}`,
		)},
		{name: "wrong type", answer: raw(
			200, "application/json",
			`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"UID","allowed":"yes"}}`,
		)},
		{name: "EOF", answer: func(w http.ResponseWriter, r *http.Request, rv *admissionv1.AdmissionReview) {
			panic(http.ErrAbortHandler)
		}},
		{name: "deny no status", answer: deny(nil)},
		{name: "deny message", answer: deny(&metav1.Status{Message: "no way"})},
		{name: "deny reason only", answer: deny(&metav1.Status{Reason: "Forbidden"})},
		{name: "deny code 200 msg", answer: deny(&metav1.Status{Code: 200, Message: "m", Status: "Success"})},
		{name: "deny 418", answer: deny(&metav1.Status{
			Code: 418, Reason: "Teapot", Message: "m",
			Details: &metav1.StatusDetails{Name: "n", Causes: []metav1.StatusCause{{Message: "c"}}},
		})},
		{name: "deny 403 reason msg", answer: deny(&metav1.Status{Code: 403, Reason: "Forbidden", Message: "m"})},
		{name: "deny Ignore policy", answer: deny(nil), edit: func(h *admreg.MutatingWebhook) {
			i := admreg.Ignore
			h.FailurePolicy = &i
		}},
		{name: "patch without type", answer: patch(`[{"op":"add","path":"/metadata/labels","value":{}}]`, nil)},
		{name: "type without patch", answer: patch(``, &jp)},
		{name: "bad patch type", answer: patch(`[{"op":"add","path":"/metadata/labels","value":{}}]`, &bad), only: "m"},
		{name: "empty patch type", answer: patch(`[{"op":"add","path":"/metadata/labels","value":{}}]`, &empty), only: "m"},
		{name: "patch not json", answer: patch(`xx`, &jp), only: "m"},
		{name: "patch []", answer: patch(`[]`, &jp), only: "m"},
		{name: "patch object", answer: patch(`{"a":1}`, &jp), only: "m"},
		{name: "patch test fails", answer: patch(`[{"op":"test","path":"/metadata/name","value":"zz"}]`, &jp), only: "m"},
		{name: "patch remove missing", answer: patch(`[{"op":"remove","path":"/metadata/labels/x"}]`, &jp), only: "m"},
		{
			name: "patch add below missing", answer: patch(`[{"op":"add","path":"/metadata/labels/x","value":"y"}]`, &jp),
			only: "m",
		},
		{name: "patch unknown op", answer: patch(`[{"op":"frob","path":"/metadata/labels/x","value":"y"}]`, &jp), only: "m"},
		{name: "patch wrong type", answer: patch(`[{"op":"replace","path":"/spec","value":"y"}]`, &jp), only: "m"},
		{name: "patch unknown field", answer: patch(`[{"op":"add","path":"/spec/foo","value":"y"}]`, &jp), only: "m"},
		{
			name: "patch on DELETE", answer: patch(`[{"op":"add","path":"/metadata/labels","value":{}}]`, &jp),
			op: admission.Delete, only: "m",
		},
		{name: "empty patch on DELETE", answer: patch(`[]`, &jp), op: admission.Delete, only: "m"},
		{name: "validating with patch", answer: patch(`[]`, nil), only: "v"},
		{name: "validating with patchType", answer: patch(``, &jp), only: "v"},
		{name: "dry run sideEffects Some", answer: ok, dry: true, edit: func(h *admreg.MutatingWebhook) {
			h.SideEffects = &some
		}},
		{name: "dry run sideEffects nil", answer: ok, dry: true, edit: func(h *admreg.MutatingWebhook) {
			h.SideEffects = nil
		}},
		{name: "dry run Some, Ignore", answer: ok, dry: true, edit: func(h *admreg.MutatingWebhook) {
			h.SideEffects = &some
			i := admreg.Ignore
			h.FailurePolicy = &i
		}},
		{name: "review versions v2", answer: ok, edit: func(h *admreg.MutatingWebhook) {
			h.AdmissionReviewVersions = []string{"v2"}
		}},
		{
			name: "v1beta1 hook, bare answer", answer: raw(200, "application/json", `{"response":{"allowed":true}}`),
			edit: func(h *admreg.MutatingWebhook) { h.AdmissionReviewVersions = []string{"v1beta1"} },
		},
		{
			name: "v1beta1 hook, denied",
			answer: raw(
				200, "application/json",
				`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","response":{"allowed":false}}`,
			),
			edit: func(h *admreg.MutatingWebhook) { h.AdmissionReviewVersions = []string{"v1beta1"} },
		},
		{name: "condition error Fail", answer: ok, edit: func(h *admreg.MutatingWebhook) {
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "object.foo == 'x'"}}
		}},
		{name: "condition 2 errors Fail", answer: ok, edit: func(h *admreg.MutatingWebhook) {
			h.MatchConditions = []admreg.MatchCondition{
				{Name: "c", Expression: "object.foo == 'x'"}, {Name: "d", Expression: "object.bar == 'x'"},
			}
		}},
		{name: "condition error generateName", gen: true, answer: ok, edit: func(h *admreg.MutatingWebhook) {
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "object.foo == 'x'"}}
		}},
		{name: "condition error Ignore", answer: deny(nil), edit: func(h *admreg.MutatingWebhook) {
			i := admreg.Ignore
			h.FailurePolicy = &i
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "object.foo == 'x'"}}
		}},
		{name: "condition compile error", answer: ok, edit: func(h *admreg.MutatingWebhook) {
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "foo("}}
		}},
		{name: "condition false", answer: deny(nil), edit: func(h *admreg.MutatingWebhook) {
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "false"}}
		}},
		{name: "condition uses authorizer", answer: ok, edit: func(h *admreg.MutatingWebhook) {
			h.MatchConditions = []admreg.MatchCondition{{Name: "c", Expression: "namespaceObject == null"}}
		}},
		{name: "condition too costly", answer: ok, edit: func(h *admreg.MutatingWebhook) {
			h.MatchConditions = []admreg.MatchCondition{{
				Name:       "c",
				Expression: "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(a,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(b,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(c,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(d,[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15].all(e,a+b+c+d+e<1000)))))",
			}}
		}},
		{name: "ns selector, ns missing", answer: ok, edit: func(h *admreg.MutatingWebhook) {
			h.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}, cluster: true},
	}
	for _, kind := range []string{"m", "v"} {
		fmt.Println("=====", kind)
		for _, c := range cases {
			if c.only != "" && c.only != kind {
				continue
			}
			fail := admreg.Fail
			ten := int32(10)
			h := admreg.MutatingWebhook{Name: "hook.example.com",
				ClientConfig: admreg.WebhookClientConfig{URL: &url, CABundle: ca}, FailurePolicy: &fail, SideEffects: &none,
				TimeoutSeconds: &ten, AdmissionReviewVersions: []string{"v1"}, NamespaceSelector: &metav1.LabelSelector{},
				ObjectSelector: &metav1.LabelSelector{},
				Rules: []admreg.RuleWithOperations{{
					Operations: []admreg.OperationType{"*"},
					Rule:       admreg.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*/*"}},
				}}}
			if c.edit != nil {
				c.edit(&h)
			}
			answer = c.answer
			if answer == nil {
				answer = ok
			}
			op := c.op
			if op == "" {
				op = admission.Create
			}
			pod := &corev1.Pod{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
				ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			}
			name := "p"
			if c.gen {
				pod.Name, pod.GenerateName, name = "", "gen-", ""
			}
			var obj, old runtime.Object = pod, nil
			var opts runtime.Object = &metav1.CreateOptions{
				TypeMeta: metav1.TypeMeta{Kind: "CreateOptions", APIVersion: "meta.k8s.io/v1"},
			}
			if op == admission.Delete {
				obj, old = nil, pod
				opts = &metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{Kind: "DeleteOptions", APIVersion: "meta.k8s.io/v1"}}
			}
			objs := []runtime.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}
			ns := "default"
			if c.cluster {
				ns = "absent"
			}
			if kind == "m" {
				objs = append(objs, &admreg.MutatingWebhookConfiguration{
					ObjectMeta: metav1.ObjectMeta{Name: "conf"}, Webhooks: []admreg.MutatingWebhook{h},
				})
			} else {
				v := admreg.ValidatingWebhook{
					Name: h.Name, ClientConfig: h.ClientConfig, FailurePolicy: h.FailurePolicy, SideEffects: h.SideEffects,
					TimeoutSeconds: h.TimeoutSeconds, AdmissionReviewVersions: h.AdmissionReviewVersions,
					NamespaceSelector: h.NamespaceSelector, ObjectSelector: h.ObjectSelector, Rules: h.Rules,
					MatchConditions: h.MatchConditions,
				}
				objs = append(objs, &admreg.ValidatingWebhookConfiguration{
					ObjectMeta: metav1.ObjectMeta{Name: "conf"}, Webhooks: []admreg.ValidatingWebhook{v},
				})
			}
			cs := fake.NewClientset(objs...)
			f := informers.NewSharedInformerFactory(cs, 0)
			stop := make(chan struct{})
			a := admission.NewAttributesRecord(
				obj, old, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, ns, name,
				schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "", op, opts, c.dry,
				&user.DefaultInfo{Name: "alice", Groups: []string{"g"}},
			)
			r := &rec{}
			ctx, cancel := context.WithTimeout(warning.WithWarningRecorder(context.Background(), r), 5*time.Second)
			oi := admission.NewObjectInterfacesFromScheme(scheme.Scheme)
			var err error
			if kind == "m" {
				p, e := mutating.NewMutatingWebhook(nil)
				if e != nil {
					panic(e)
				}
				p.SetExternalKubeClientSet(cs)
				p.SetExternalKubeInformerFactory(f)
				if e := p.ValidateInitialization(); e != nil {
					panic(e)
				}
				f.Start(stop)
				f.WaitForCacheSync(stop)
				err = p.Admit(ctx, a, oi)
			} else {
				p, e := validating.NewValidatingAdmissionWebhook(nil)
				if e != nil {
					panic(e)
				}
				p.SetExternalKubeClientSet(cs)
				p.SetExternalKubeInformerFactory(f)
				if e := p.ValidateInitialization(); e != nil {
					panic(e)
				}
				f.Start(stop)
				f.WaitForCacheSync(stop)
				err = p.Validate(ctx, a, oi)
			}
			cancel()
			close(stop)
			show(c.name, err, r.w)
			if c.name == "allowed" {
				fmt.Println("   REQUEST", lastURL)
				fmt.Println("   BODY", mask(string(last)))
			}
		}
	}
}
