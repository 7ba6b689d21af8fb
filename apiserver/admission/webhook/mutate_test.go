package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	admission "github.com/kubecascade/kubecascade/apiserver/admission/webhook"
	"github.com/kubecascade/kubecascade/apiserver/webhook"
	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// change is a request whose object is a JSON object of strings. A webhook whose name begins with "if-KEY" is called
// only while the object has the key.
type change struct {
	question
	object map[string]string
}

func (c *change) Match(ctx context.Context, h *admission.Configured) (schema.GroupVersionResource, bool, error) {
	in, ok, err := c.question.Match(ctx, h)
	if rest, conditional := strings.CutPrefix(h.Name, "if-"); conditional {
		key, _, _ := strings.Cut(rest, "-")
		_, has := c.object[key]
		ok = ok && has
	}
	return in, ok, err
}

func (c *change) Review(in schema.GroupVersionResource) (*admission.Request, error) {
	r, err := c.question.Review(in)
	r.Object = c.json()
	return r, err
}

func (c *change) State() runtime.Object {
	return &runtime.Unknown{Raw: c.json()}
}

func (c *change) json() []byte {
	data, err := json.Marshal(c.object)
	if err != nil {
		panic(err) // strings always encode
	}
	return data
}

func (c *change) Store(_ schema.GroupVersionResource, object []byte) (bool, error) {
	next := map[string]string{}
	if err := json.Unmarshal(object, &next); err != nil {
		return false, err
	}
	changed := !cmp.Equal(c.object, next)
	c.object = next
	return changed, nil
}

// sets returns an Answer with a patch that sets a key.
func sets(key, value string) webhooktest.Answer {
	patch, kind := fmt.Sprintf(`[{"op":"add","path":"/%s","value":%q}]`, key, value), admissionv1.PatchTypeJSONPatch
	return webhooktest.Respond(&admissionv1.AdmissionResponse{Allowed: true, Patch: []byte(patch), PatchType: &kind})
}

// TestReinvocation: after a change, a second round begins. intree is the change that the server's own plugins make to
// the object before that round (L-53 to L-56).
func TestReinvocation(t *testing.T) {
	s := webhooktest.Start(t)
	s.ScriptPath("/a", sets("a", "1"))
	s.ScriptPath("/b", sets("b", "1"))
	s.ScriptPath("/true", sets("x", "true"))
	s.ScriptPath("/false", sets("x", "false"))
	s.ScriptPath("/if-a-b", sets("b", "1"))
	for _, c := range []struct {
		name, hooks string
		never       bool
		intree      map[string]string
		calls       string
		object      string
	}{
		{"no change", "noop", false, nil, "noop", `{}`},
		{"a change of its own", "a", false, nil, "a", `{"a":"1"}`},
		{"a change after it", "a b", false, nil, "a b a", `{"a":"1","b":"1"}`},
		{"changes that undo each other", "true false", false, nil, "true false true false", `{"x":"false"}`},
		{"never again", "a b", true, nil, "a b", `{"a":"1","b":"1"}`},
		{"not called at first", "if-a-b a", false, nil, "a", `{"a":"1"}`},
		{"called after its condition was made true", "a if-a-b", false, nil, "a if-a-b a", `{"a":"1","b":"1"}`},
		{"a change of the server's", "a noop", false, map[string]string{"c": "1"}, "a noop a noop", `{"a":"1","c":"1"}`},
	} {
		config := configuration(s, "c", strings.Fields(c.hooks)...)
		policy := admissionregistrationv1.IfNeededReinvocationPolicy
		if c.never {
			policy = admissionregistrationv1.NeverReinvocationPolicy
		}
		for i := range config.Webhooks {
			config.Webhooks[i].ReinvocationPolicy = &policy
		}
		hooks := admission.Of("c", true, config.Webhooks)
		caller, q, rounds := &admission.Caller{
			Clients: webhook.NewClients(nil),
		}, &change{object: map[string]string{}}, admission.Rounds[*admission.Configured]{}
		for round := range 2 {
			if round > 0 && !rounds.Again {
				break
			}
			for key, value := range c.intree {
				if round > 0 {
					q.object[key] = value
				}
			}
			if err := caller.Mutate(t.Context(), hooks, q, &rounds, round); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		var calls []string
		for _, seen := range s.Seen() {
			calls = append(calls, strings.TrimPrefix(seen.Path, "/"))
		}
		if got := strings.Join(calls, " "); got != c.calls || string(q.json()) != c.object {
			t.Errorf("%s: %s %s, want %s %s", c.name, got, q.json(), c.calls, c.object)
		}
	}
}

// TestDenialEndsTheRound: a denial ends the round, and the changes before it stay. An ignored webhook that can't be
// called does not end it. Each call has its annotation.
func TestDenialEndsTheRound(t *testing.T) {
	s := webhooktest.Start(t)
	s.ScriptPath("/a", sets("a", "1"))
	s.ScriptPath("/no", webhooktest.Respond(&admissionv1.AdmissionResponse{}))
	hooks := admission.Of("c", true, configuration(s, "c", "gone?", "a", "no", "b").Webhooks)
	q := &change{object: map[string]string{}}
	err := (&admission.Caller{Clients: webhook.NewClients(nil)}).Mutate(
		t.Context(), hooks, q, &admission.Rounds[*admission.Configured]{}, 0)
	if want := `admission webhook "no" denied the request without explanation`; fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
	const mutation, at = "mutation.webhook.admission.k8s.io/round_0_index_", `={"configuration":"c","webhook":"`
	want := []string{
		"failed-open.mutation.webhook.admission.k8s.io/round_0_index_0=gone?", "open gone?",
		mutation + "0" + at + `gone?","mutated":false}`,
		"patch.webhook.admission.k8s.io/round_0_index_1" + at +
			`a","patch":[{"op":"add","path":"/a","value":"1"}],"patchType":"JSONPatch"}`,
		mutation + "1" + at + `a","mutated":true}`,
		mutation + "2" + at + `no","mutated":false}`,
	}
	if diff := cmp.Diff(want, q.calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestRequestTimeoutIsNotIgnored: the request ends even if the failures of the webhook are ignored (L-83).
func TestRequestTimeoutIsNotIgnored(t *testing.T) {
	s := webhooktest.Start(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	s.Script(func(http.ResponseWriter, *admissionv1.AdmissionReview) {
		cancel(errors.New("over"))
		<-t.Context().Done()
	})
	ignore := admissionregistrationv1.Ignore
	config := configuration(s, "c", "slow", "next")
	for i := range config.Webhooks {
		config.Webhooks[i].FailurePolicy = &ignore
	}
	hooks := admission.Of("c", true, config.Webhooks)
	q := &change{object: map[string]string{}}
	err := (&admission.Caller{Clients: webhook.NewClients(nil)}).Mutate(
		ctx, hooks, q, &admission.Rounds[*admission.Configured]{}, 0)
	if want := "Timeout: request did not complete within requested timeout"; fmt.Sprint(err) != want {
		t.Errorf("%v, want %s", err, want)
	}
	if n := len(s.Seen()); n != 1 {
		t.Errorf("%d were called", n)
	}
}
