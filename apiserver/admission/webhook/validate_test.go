package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admission "github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// question is a request that all webhooks except one match. It records the calls of its methods.
type question struct {
	skip, broken string
	calls        []string
}

func (q *question) Match(_ context.Context, h *admission.Configured) (schema.GroupVersionResource, bool, error) {
	if h.Name == q.broken {
		return schema.GroupVersionResource{}, false, errors.New("its condition failed")
	}
	return schema.GroupVersionResource{Version: "v1", Resource: "pods"}, h.Name != q.skip, nil
}

func (q *question) Review(in schema.GroupVersionResource) (*admission.Request, error) {
	return &admission.Request{Resource: in, Operation: admissionv1.Create, Object: []byte(`{}`)}, nil
}

func (q *question) Warn(text string)           { q.calls = append(q.calls, "warning "+text) }
func (q *question) Annotate(key, value string) { q.calls = append(q.calls, key+"="+value) }
func (q *question) FailedOpen(h *admission.Configured, _ error) {
	q.calls = append(q.calls, "open "+h.Name)
}

// configuration has webhooks of the server, one path each. A webhook whose name ends in "?" is ignored if it can't be
// called.
func configuration(
	s *webhooktest.Server, name string, hooks ...string) *admissionregistrationv1.MutatingWebhookConfiguration {
	c := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	none := admissionregistrationv1.SideEffectClassNone
	for _, h := range hooks {
		url, policy := s.URL+"/"+h, admissionregistrationv1.Fail
		if strings.HasSuffix(h, "?") {
			policy, url = admissionregistrationv1.Ignore, "https://127.0.0.1:1/"
		}
		c.Webhooks = append(c.Webhooks, admissionregistrationv1.MutatingWebhook{
			Name: h, ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: s.CA},
			FailurePolicy: &policy, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
		})
	}
	return c
}

func validating(
	t *testing.T, configs ...*admissionregistrationv1.MutatingWebhookConfiguration) (hooks []*admission.Configured) {
	t.Helper()
	for _, c := range configs {
		hooks = append(hooks, admission.Of(c.Name, false, c.Webhooks)...)
	}
	return hooks
}

// TestWebhooksAreCalledConcurrently: each webhook waits until all are called (L-51).
func TestWebhooksAreCalledConcurrently(t *testing.T) {
	s := webhooktest.Start(t)
	var here sync.WaitGroup
	here.Add(3)
	s.Script(func(w http.ResponseWriter, r *admissionv1.AdmissionReview) {
		here.Done()
		here.Wait()
		webhooktest.Allow(w, r)
	})
	c := &admission.Caller{Clients: webhook.NewClients(nil)}
	hooks := validating(t, configuration(s, "c", "a", "b", "skipped", "d"))
	if err := c.Validate(t.Context(), hooks, &question{skip: "skipped"}); err != nil {
		t.Error(err)
	}
	if n := len(s.Seen()); n != 3 {
		t.Errorf("%d were called", n)
	}
}

// TestFirstDenialInOrderIsReturned: if several webhooks deny the request, the denial of the first one is returned. The
// warnings and annotations of all webhooks, and the webhook that can't be called, are recorded in the order of the
// webhooks.
func TestFirstDenialInOrderIsReturned(t *testing.T) {
	s := webhooktest.Start(t)
	first := make(chan struct{})
	deny := func(name string, wait <-chan struct{}, done chan<- struct{}) webhooktest.Answer {
		return func(w http.ResponseWriter, r *admissionv1.AdmissionReview) {
			<-wait
			webhooktest.Respond(&admissionv1.AdmissionResponse{
				Result: &metav1.Status{Message: "no"}, Warnings: []string{"of " + name},
				AuditAnnotations: map[string]string{"k": name},
			})(w, r)
			if done != nil {
				close(done)
			}
		}
	}
	open := make(chan struct{})
	close(open)
	s.ScriptPath("/a", deny("a", first, nil))
	s.ScriptPath("/b", deny("b", open, first))
	c, q := &admission.Caller{Clients: webhook.NewClients(nil)}, &question{}
	hooks := validating(t, configuration(s, "first", "a"), configuration(s, "second", "b", "gone?"))
	err := c.Validate(t.Context(), hooks, q)
	if want := `admission webhook "a" denied the request: no`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	want := []string{
		"warning of a", "a/k=a", "warning of b", "b/k=b",
		"failed-open.validating.webhook.admission.k8s.io/round_0_index_2=gone?", "open gone?",
	}
	if diff := cmp.Diff(want, q.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestNoWebhookIsCalledAfterAnError: if matching fails for one webhook, or if the request has ended, no webhook is
// called (L-46, L-52).
func TestNoWebhookIsCalledAfterAnError(t *testing.T) {
	s := webhooktest.Start(t)
	c, hooks := &admission.Caller{Clients: webhook.NewClients(nil)}, validating(t, configuration(s, "c", "a", "b"))
	if err := c.Validate(t.Context(), hooks, &question{broken: "b"}); fmt.Sprint(err) != "its condition failed" {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err := c.Validate(ended, hooks, &question{})
	if want := "Timeout: request did not complete within requested timeout"; fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
	if n := len(s.Seen()); n != 0 {
		t.Errorf("%d were called", n)
	}
}

// TestPanicEndsOnlyTheRequest: a panic while a webhook is called ends the request, and not the process.
func TestPanicEndsOnlyTheRequest(t *testing.T) {
	s := webhooktest.Start(t)
	hooks := validating(t, configuration(s, "a", "a", "b"))
	defer func() {
		if p := fmt.Sprint(recover()); !strings.Contains(p, "calling webhook a: runtime error") {
			t.Errorf("the request panicked with %s", p)
		}
	}()
	err := (&admission.Caller{}).Validate(t.Context(), hooks, &question{}) // without clients
	t.Errorf("no panic, %v", err)
}
