package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admission "github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// vector is a case of conformance/recorded/admission/measured-webhooks.txt: what a webhook answers, and what differs in
// its configuration or in the request.
type vector struct {
	answer webhooktest.Answer
	hook   func(*admission.Hook)
	delete bool
	dryRun bool
}

// raw answers with a body in which UID stands for the request's uid.
func raw(code int, media, body string) webhooktest.Answer {
	return func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		w.Header()["Content-Type"] = nil
		if media != "" {
			w.Header().Set("Content-Type", media)
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(strings.ReplaceAll(body, `"UID"`, `"`+string(review.Request.UID)+`"`)))
	}
}

func review(rest string) webhooktest.Answer { return raw(200, "application/json", `{`+rest+`}`) }

func deny(st *metav1.Status) webhooktest.Answer {
	return webhooktest.Respond(&admissionv1.AdmissionResponse{Result: st})
}

func patched(patch string, kind *admissionv1.PatchType) webhooktest.Answer {
	return webhooktest.Respond(&admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(patch), PatchType: kind})
}

const (
	head = `"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",`
	good = `"response":{"uid":"UID","allowed":true}`
	add  = `[{"op":"add","path":"/metadata/labels","value":{}}]`
)

func vectors(t *testing.T, s *webhooktest.Server) map[string]vector {
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	jsonPatch, foo, empty := admissionv1.PatchTypeJSONPatch, admissionv1.PatchType("Foo"), admissionv1.PatchType("")
	to := func(url string) func(*admission.Hook) { return func(h *admission.Hook) { h.Client.URL = url } }
	ca := func(pem string) func(*admission.Hook) {
		return func(h *admission.Hook) { h.Client.CABundle = []byte(pem) }
	}
	versions := func(v ...string) func(*admission.Hook) { return func(h *admission.Hook) { h.ReviewVersions = v } }
	effects := func(e *admissionregistrationv1.SideEffectClass) func(*admission.Hook) {
		return func(h *admission.Hook) { h.SideEffects = e }
	}
	some := admissionregistrationv1.SideEffectClassSome
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"go away","reason":"Forbidden",` +
		`"code":403}`
	const mediaJSON, text = "application/json", "text/plain"
	causes := []metav1.StatusCause{{Message: "c"}}
	return map[string]vector{
		"allowed":            {answer: webhooktest.Allow},
		"connection refused": {hook: to("https://127.0.0.1:1/hook")},
		"timeout 1s": {
			answer: func(http.ResponseWriter, *admissionv1.AdmissionReview) { <-t.Context().Done() },
			hook:   func(h *admission.Hook) { h.Timeout = time.Second },
		},
		"unknown CA":           {hook: ca("")},
		"bad caBundle":         {hook: ca("x")},
		"wrong host name":      {hook: to(strings.Replace(s.URL, "127.0.0.1", "localhost", 1) + "/hook")},
		"plain http server":    {hook: to("https" + strings.TrimPrefix(plain.URL, "http"))},
		"500 text":             {answer: raw(500, text, "boom")},
		"500 no content type":  {answer: raw(500, "", "boom")},
		"500 json":             {answer: raw(500, mediaJSON, `{"a":1}`)},
		"403 Status body":      {answer: raw(403, mediaJSON, status)},
		"404 text":             {answer: raw(404, "text/plain; charset=utf-8", "404 page not found\n")},
		"401":                  {answer: raw(401, text, "who")},
		"503":                  {answer: raw(503, text, "later")},
		"302":                  {answer: raw(302, text, "later")},
		"204 empty":            {answer: raw(204, mediaJSON, "")},
		"200 empty":            {answer: raw(200, mediaJSON, "")},
		"200 not json":         {answer: raw(200, mediaJSON, "hello")},
		"200 {}":               {answer: review("")},
		"200 other kind":       {answer: review(`"kind":"Pod","apiVersion":"v1"`)},
		"200 Status failure":   {answer: raw(200, mediaJSON, status)},
		"200 Status success":   {answer: review(`"kind":"Status","apiVersion":"v1","status":"Success"`)},
		"200 text/plain valid": {answer: raw(200, text, `{`+head+good+`}`)},
		"200 text/html":        {answer: raw(200, "text/html", "<html>")},
		"200 bad content type": {answer: raw(200, ";;", "x")},
		"201 valid":            {answer: raw(201, mediaJSON, `{`+head+good+`}`)},
		"no response":          {answer: review(strings.TrimSuffix(head, ","))},
		"wrong uid":            {answer: review(head + `"response":{"uid":"x","allowed":true}`)},
		"v1beta1 answer":       {answer: review(strings.Replace(head, "v1", "v1beta1", 1) + good)},
		"no kind":              {answer: review(`"apiVersion":"admission.k8s.io/v1",` + good)},
		"no kind nor version":  {answer: review(good)},
		"unknown field":        {answer: review(head + `"foo":1,` + good)},
		"wrong type":           {answer: review(head + `"response":{"uid":"UID","allowed":"yes"}`)},
		"EOF": {answer: func(http.ResponseWriter, *admissionv1.AdmissionReview) {
			panic(http.ErrAbortHandler)
		}},
		"deny no status":        {answer: deny(nil)},
		"deny message":          {answer: deny(&metav1.Status{Message: "no way"})},
		"deny reason only":      {answer: deny(&metav1.Status{Reason: "Forbidden"})},
		"deny code 200 msg":     {answer: deny(&metav1.Status{Code: 200, Message: "m", Status: "Success"})},
		"deny 403 reason msg":   {answer: deny(&metav1.Status{Code: 403, Reason: "Forbidden", Message: "m"})},
		"patch without type":    {answer: patched(add, nil)},
		"type without patch":    {answer: patched("", &jsonPatch)},
		"bad patch type":        {answer: patched(add, &foo)},
		"empty patch type":      {answer: patched(add, &empty)},
		"patch not json":        {answer: patched("xx", &jsonPatch)},
		"patch []":              {answer: patched("[]", &jsonPatch)},
		"patch object":          {answer: patched(`{"a":1}`, &jsonPatch)},
		"patch test fails":      {answer: patched(`[{"op":"test","path":"/metadata/name","value":"zz"}]`, &jsonPatch)},
		"patch remove missing":  {answer: patched(`[{"op":"remove","path":"/metadata/labels/x"}]`, &jsonPatch)},
		"patch unknown op":      {answer: patched(`[{"op":"frob","path":"/metadata/labels/x","value":"y"}]`, &jsonPatch)},
		"patch on DELETE":       {answer: patched(add, &jsonPatch), delete: true},
		"empty patch on DELETE": {answer: patched("[]", &jsonPatch), delete: true},
		"patch add below missing": {
			answer: patched(`[{"op":"add","path":"/metadata/labels/x","value":"y"}]`, &jsonPatch),
		},
		"deny 418": {answer: deny(&metav1.Status{
			Code: 418, Reason: "Teapot", Message: "m", Details: &metav1.StatusDetails{Name: "n", Causes: causes},
		})},
		"validating with patch":     {answer: patched("[]", nil)},
		"validating with patchType": {answer: patched("", &jsonPatch)},
		"dry run sideEffects Some":  {dryRun: true, hook: effects(&some)},
		"dry run sideEffects nil":   {dryRun: true, hook: effects(nil)},
		"review versions v2":        {hook: versions("v2")},
		"v1beta1 hook, bare answer": {answer: review(`"response":{"allowed":true}`), hook: versions("v1beta1")},
		"v1beta1 hook, denied": {
			answer: review(strings.Replace(head, "v1", "v1beta1", 1) + `"response":{"allowed":false}`),
			hook:   versions("v1beta1"),
		},
	}
}

var (
	uids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	hosts = regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`)
)

// masked replaces what differs from run to run.
func masked(s string) string {
	return hosts.ReplaceAllString(uids.ReplaceAllString(s, "<uid>"), "HOST")
}

// shown is an error in the form of the recording: code, reason, message and details.
func shown(err error) string {
	var call *admission.CallError
	if errors.As(err, &call) {
		err = apierrors.NewInternalError(err)
	}
	var st apierrors.APIStatus
	switch {
	case err == nil:
		return "OK warnings=[]"
	case !errors.As(err, &st):
		return "plain " + err.Error()
	}
	details := ""
	if d := st.Status().Details; d != nil {
		data, _ := json.Marshal(d)
		details = string(data)
	}
	s := st.Status()
	return masked(fmt.Sprintf("%d %s | %s | %s", s.Code, s.Reason, s.Message, details))
}

// TestRecorded: webhooks that answer well and badly are answered for as by upstream's plugins.
func TestRecorded(t *testing.T) {
	data, err := os.ReadFile("../../../conformance/recorded/admission/measured-webhooks.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := webhooktest.Start(t)
	cases, mutating, replayed := vectors(t, s), true, 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "===== ") {
			mutating = line == "===== m"
		}
		if len(line) < 36 {
			continue
		}
		name, want := strings.TrimSpace(line[:35]), strings.TrimSpace(line[35:])
		v, ok := cases[name]
		if !ok {
			continue
		}
		replayed++
		t.Run(fmt.Sprintf("%t/%s", mutating, name), func(t *testing.T) {
			if got := strings.TrimSpace(ask(t, s, v, mutating)); got != masked(want) {
				t.Errorf("got\n%s, want\n%s", got, masked(want))
			}
		})
	}
	if replayed < 100 {
		t.Errorf("%d cases were found", replayed)
	}
}

// ask sends one review, applies its patch, and returns what a client is told.
func ask(t *testing.T, s *webhooktest.Server, v vector, mutating bool) string {
	if v.answer == nil {
		v.answer = webhooktest.Allow
	}
	s.Script(v.answer)
	none := admissionregistrationv1.SideEffectClassNone
	h := &admission.Hook{
		Name: "hook.example.com", Mutating: mutating, ReviewVersions: []string{"v1"}, SideEffects: &none,
		Client: webhook.Config{URL: s.URL + "/hook", CABundle: s.CA}, Timeout: 10 * time.Second,
	}
	if v.hook != nil {
		v.hook(h)
	}
	pod := []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default"}}`)
	gvk, gvr := schema.GroupVersionKind{
		Version: "v1", Kind: "Pod",
	}, schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	r := &admission.Request{
		Kind: gvk, RequestKind: gvk, Resource: gvr, RequestResource: gvr, Name: "p", Namespace: "default",
		Operation: admissionv1.Create, User: authorization.User{Name: "alice", Groups: []string{"g"}}, DryRun: v.dryRun,
		Object: pod,
	}
	if v.delete {
		r.Operation, r.Object, r.OldObject = admissionv1.Delete, nil, pod
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	c := &admission.Caller{Clients: webhook.NewClients(nil)}
	response, err := c.Call(ctx, h, r)
	if err == nil {
		err = h.Denial(response)
	}
	if err == nil && mutating {
		_, err = h.Apply(response, r.Object)
	}
	return shown(err)
}

// TestReview: the request has the form of upstream's, header and body (L-62, L-65, L-66).
func TestReview(t *testing.T) {
	data, err := os.ReadFile("../../../conformance/recorded/admission/measured-webhooks.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := webhooktest.Start(t)
	if got := ask(t, s, vector{}, true); got != "OK warnings=[]" {
		t.Fatal(got)
	}
	seen := s.Seen()[0]
	_, body, _ := strings.Cut(string(data), "   BODY ")
	body, _, _ = strings.Cut(body, "\n")
	var want, got map[string]any
	if err := errors.Join(
		json.Unmarshal([]byte(body), &want), json.Unmarshal([]byte(masked(string(seen.Body))), &got),
	); err != nil {
		t.Fatal(err)
	}
	want["request"].(map[string]any)["object"], got["request"].(map[string]any)["object"] = nil, nil // another pod
	delete(want["request"].(map[string]any), "options")
	delete(got["request"].(map[string]any), "options")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-upstream +this):\n%s", diff)
	}
	if !strings.HasSuffix(string(seen.Body), "}\n") {
		t.Errorf("the body ends with %q", seen.Body[len(seen.Body)-2:])
	}
	header := fmt.Sprint(seen.Header["Accept"], seen.Header["Content-Type"], seen.Header["User-Agent"])
	if header != "[application/json, */*] [application/json] [kube-apiserver-admission]" || seen.Query != "timeout=5s" {
		t.Errorf("%s, %s", header, seen.Query)
	}
}
