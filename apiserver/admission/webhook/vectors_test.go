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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	admission "github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// vector is a case of conformance/recorded/admission/webhooks.yaml, which describes the fields.
type vector struct {
	Name string
	HTTP *struct {
		Code       int
		Type, Body string
	}
	Review              *admissionv1.AdmissionResponse
	Patch               string
	Hang, Abort, DryRun bool
	Hook                map[string]any
	Operation           admissionv1.Operation
}

// answer returns the answer of the case's webhook.
func (v vector) answer(t *testing.T) webhooktest.Answer {
	switch {
	case v.Hang:
		return func(http.ResponseWriter, *admissionv1.AdmissionReview) { <-t.Context().Done() }
	case v.Abort:
		return func(http.ResponseWriter, *admissionv1.AdmissionReview) { panic(http.ErrAbortHandler) }
	case v.HTTP != nil:
		return func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
			w.Header()["Content-Type"] = nil
			if v.HTTP.Type != "" {
				w.Header().Set("Content-Type", v.HTTP.Type)
			}
			w.WriteHeader(v.HTTP.Code)
			_, _ = w.Write([]byte(strings.ReplaceAll(v.HTTP.Body, "UID", string(review.Request.UID))))
		}
	case v.Review != nil:
		v.Review.Patch = []byte(v.Patch)
		return webhooktest.Respond(v.Review)
	}
	return webhooktest.Allow
}

// elsewhere reports whether the result of the case depends on code that this test does not call: the failure policy,
// selectors and conditions, the address of a service, or the decoding of a patched pod.
func (v vector) elsewhere() bool {
	client, _ := v.Hook["clientConfig"].(map[string]any)
	return v.Hook["failurePolicy"] != nil || v.Hook["matchConditions"] != nil || v.Hook["namespaceSelector"] != nil ||
		client["service"] != nil || v.Name == "patch wrong type" || v.Name == "patch unknown field"
}

// configured returns a webhook with the fields of the case.
func (v vector) configured(t *testing.T, s *webhooktest.Server, mutating bool) *admission.Hook {
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	none, url, ten := admissionregistrationv1.SideEffectClassNone, s.URL+"/hook", int32(10)
	w := admissionregistrationv1.ValidatingWebhook{
		AdmissionReviewVersions: []string{"v1"}, SideEffects: &none, TimeoutSeconds: &ten,
		ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: s.CA},
	}
	data, err := json.Marshal(v.Hook)
	if err == nil {
		err = json.Unmarshal(data, &w)
	}
	if err != nil {
		t.Fatal(err)
	}
	*w.ClientConfig.URL = strings.NewReplacer(
		"${LOCALHOST}", strings.Replace(s.URL, "127.0.0.1", "localhost", 1),
		"${PLAIN}", strings.Replace(plain.URL, "http", "https", 1)).Replace(*w.ClientConfig.URL)
	return &admission.Hook{
		Name: "hook.example.com", Mutating: mutating, ReviewVersions: w.AdmissionReviewVersions, SideEffects: w.SideEffects,
		Client:  webhook.Config{WebhookClientConfig: w.ClientConfig},
		Timeout: time.Duration(*w.TimeoutSeconds) * time.Second,
	}
}

var (
	uids  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	hosts = regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+`)
)

// masked replaces values that differ from run to run.
func masked(s string) string {
	return hosts.ReplaceAllString(uids.ReplaceAllString(s, "<uid>"), "HOST")
}

// shown returns an error in the form of the recording: code, reason, message and details.
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

// vectors returns the cases by name.
func vectors(t *testing.T) map[string]vector {
	t.Helper()
	var all []vector
	data, err := os.ReadFile("../../../conformance/recorded/admission/webhooks.yaml")
	if err == nil {
		err = yaml.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]vector{}
	for _, v := range all {
		cases[v.Name] = v
	}
	return cases
}

// TestResponsesEqualRecordedOnes: valid and invalid responses of webhooks become the responses of upstream's plugins.
func TestResponsesEqualRecordedOnes(t *testing.T) {
	data, err := os.ReadFile("../../../conformance/recorded/admission/measured-webhooks.txt")
	if err != nil {
		t.Fatal(err)
	}
	s := webhooktest.Start(t)
	cases, mutating, replayed := vectors(t), true, 0
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
		if !ok || v.elsewhere() {
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

// ask sends one review, applies its patch, and returns the response to the client.
func ask(t *testing.T, s *webhooktest.Server, v vector, mutating bool) string {
	s.Script(v.answer(t))
	h := v.configured(t, s, mutating)
	pod := []byte(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default"}}`)
	gvk, gvr := schema.GroupVersionKind{
		Version: "v1", Kind: "Pod",
	}, schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	r := &admission.Request{
		Kind: gvk, RequestKind: gvk, Resource: gvr, RequestResource: gvr, Name: "p", Namespace: "default",
		Operation: admissionv1.Create, User: authorization.User{Name: "alice", Groups: []string{"g"}}, DryRun: v.DryRun,
		Object: pod,
	}
	if v.Operation == admissionv1.Delete {
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

// TestReviewHasUpstreamsForm: the request has the same headers and the same body as upstream's (L-62, L-65, L-66).
func TestReviewHasUpstreamsForm(t *testing.T) {
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
		json.Unmarshal([]byte(body), &want), json.Unmarshal([]byte(masked(string(seen.Body))), &got)); err != nil {
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
