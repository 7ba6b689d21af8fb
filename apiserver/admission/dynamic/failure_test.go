package dynamic_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// answer returns an Answer that does not depend on the review.
func answer(code int, media, body string) webhooktest.Answer {
	return func(w http.ResponseWriter, _ *admissionv1.AdmissionReview) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body) // if that fails, the client is gone
	}
}

// broken has the webhooks to which the failure policy applies (L-84), with their answers, and with the error message
// after `failed calling webhook "h.example.com": `.
var broken = map[string]struct {
	answer   webhooktest.Answer
	mutating bool
	want     string
}{
	"code": {answer: answer(500, "text/plain", "boom"),
		want: `failed to call webhook: an error on the server ("boom") has prevented the request from succeeding`},
	"redirect": {answer: answer(302, "text/plain", ""),
		want: "failed to call webhook: the server responded with the status code 302 but did not return more information"},
	"empty": {answer: answer(200, "application/json", ""),
		want: "failed to call webhook: 0-length response with status code: 200 and content type: application/json"},
	"nonsense": {answer: answer(200, "application/json", `"x"`),
		want: "failed to call webhook: couldn't get version/kind; json parse error: "},
	"no response": {answer: answer(
		200, "application/json", `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"}`),
		want: "received invalid webhook response: webhook response was absent"},
	"uid": {answer: answer(200, "application/json",
		`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"x","allowed":true}}`),
		want: `received invalid webhook response: expected response.uid="`},
	"too large": {answer: answer(200, "application/json", strings.Repeat(" ", 17<<20)),
		want: "failed to call webhook: the response is larger than 8 MiB"},
	"closed": {answer: func(http.ResponseWriter, *admissionv1.AdmissionReview) { panic(http.ErrAbortHandler) },
		want: `failed to call webhook: Post "`},
	"patch": {answer: patch("xx"), mutating: true,
		want: "received undecodable patch in webhook response: invalid character 'x' looking for beginning of value"},
}

// TestFailurePolicyDecidesAfterAFailedCall: if a webhook can't be called, its failure policy decides whether the
// request is rejected or the webhook is ignored (L-83, L-84, L-S02).
func TestFailurePolicyDecidesAfterAFailedCall(t *testing.T) {
	c := start(t)
	for _, kind := range []string{"Validating", "Mutating"} {
		for name, test := range broken {
			if test.mutating && kind == "Validating" {
				continue
			}
			c.hook.ScriptPath("/h", test.answer)
			for _, policy := range []string{"Fail", "Ignore"} {
				c.register(kind, "h", "/h", rule("CREATE", "", "v1", "configmaps"), `"failurePolicy":"`+policy+`"`)
				a := c.Do("POST", maps, `{"metadata":{"name":"m"}}`)
				want := `Internal error occurred: failed calling webhook "h.example.com": ` + test.want
				switch st := a.Status(); {
				case policy == "Ignore":
					if a.Code != 201 {
						t.Errorf("%s %s, ignored: %d %s", kind, name, a.Code, a.Body)
					}
				case a.Code != 500 || st.Reason != metav1.StatusReasonInternalError || !strings.HasPrefix(st.Message, want):
					t.Errorf("%s %s: %d %s\nwant %s", kind, name, a.Code, a.Body, want)
				default:
					c.want(404, "GET", maps+"/m", nil)
				}
				c.want(200, "DELETE", hookConfigs+strings.ToLower(kind)+"webhookconfigurations/h", nil)
				c.Do("DELETE", maps+"/m", nil)
			}
		}
	}
}

// TestLargePatchIsApplied: a patch replaces an object of 1 MB twice. The memory for its response is released.
func TestLargePatchIsApplied(t *testing.T) {
	c := start(t)
	value := strings.Repeat("x", 1_000_000)
	c.hook.ScriptPath("/h", patch(`[{"op":"add","path":"/data","value":{"a":"`+value+`"}},`+
		`{"op":"add","path":"/data","value":{"b":"`+value+`"}}]`))
	c.register("Mutating", "h", "/h", rule("CREATE", "", "v1", "configmaps"))
	obj := c.want(201, "POST", maps+"?dryRun=All", `{"metadata":{"name":"m"}}`).Object()
	if data, _, _ := unstructured.NestedString(obj.Object, "data", "b"); data != value {
		t.Errorf("the patch was not applied: %d bytes", len(data))
	}
	c.register("Validating", "h", "/v", rule("CREATE", "", "v1", "configmaps"))
	c.hook.ScriptPath("/v", webhooktest.Respond(&admissionv1.AdmissionResponse{Result: deny(403, "", value)}))
	c.want(403, "POST", maps+"?dryRun=All", `{"metadata":{"name":"m"}}`)
}

// TestFailurePolicyIgnoresNoDenial: it does not ignore a patch that can't be applied, either (L-81, L-85, L-S02).
func TestFailurePolicyIgnoresNoDenial(t *testing.T) {
	c := start(t)
	denied := func(st *metav1.Status) webhooktest.Answer {
		return webhooktest.Respond(&admissionv1.AdmissionResponse{Result: st})
	}
	for name, test := range map[string]struct {
		answer webhooktest.Answer
		code   int
		reason metav1.StatusReason
		want   string
	}{
		"no status": {denied(nil), 400, "", `admission webhook "h.example.com" denied the request without explanation`},
		"message":   {denied(deny(0, "", "no way")), 400, "", `admission webhook "h.example.com" denied the request: no way`},
		"reason":    {denied(deny(0, "Gone", "")), 400, "Gone", `admission webhook "h.example.com" denied the request: Gone`},
		"teapot": {
			denied(deny(418, "Teapot", "m")), 418, "Teapot", `admission webhook "h.example.com" denied the request: m`,
		},
		"test": {patch(`[{"op":"test","path":"/metadata/name","value":"x"}]`), 500, "InternalError",
			"Internal error occurred: testing value /metadata/name failed: test failed"},
		"missing": {patch(`[{"op":"remove","path":"/metadata/labels/x"}]`), 500, "InternalError",
			"Internal error occurred: remove operation does not apply: " +
				`doc is missing path: "/metadata/labels/x": missing value`},
		"type": {patch(`[{"op":"add","path":"/data","value":"x"}]`), 500, "InternalError",
			"Internal error occurred: json: cannot unmarshal string into Go struct field ConfigMap.data of type " +
				"map[string]string"},
	} {
		c.hook.ScriptPath("/h", test.answer)
		for _, policy := range []string{"Fail", "Ignore"} {
			c.register("Mutating", "h", "/h", rule("CREATE", "", "v1", "configmaps"), `"failurePolicy":"`+policy+`"`)
			a := c.Do("POST", maps, `{"metadata":{"name":"m"}}`)
			if st := a.Status(); a.Code != test.code || st.Reason != test.reason || st.Message != test.want {
				t.Errorf("%s, %s: %d %s", name, policy, a.Code, a.Body)
			}
			c.want(404, "GET", maps+"/m", nil)
			c.want(200, "DELETE", hookConfigs+"mutatingwebhookconfigurations/h", nil)
		}
	}
	c.want(201, "POST", maps, `{"metadata":{"name":"m"}}`)
	c.hook.ScriptPath("/h", patch(`[{"op":"add","path":"/data","value":{}}]`))
	c.register("Mutating", "h", "/h", rule("DELETE", "", "v1", "configmaps"))
	c.says(c.want(500, "DELETE", maps+"/m", nil), `Internal error occurred: admission webhook "h.example.com" `+
		`attempted to modify the object, which is not supported for this operation`)
	c.want(200, "GET", maps+"/m", nil)
}

// TestClientGetsWarningsOfAllWebhooks: the client gets them even if one webhook denies the request (L-79, L-S19).
func TestClientGetsWarningsOfAllWebhooks(t *testing.T) {
	c := start(t)
	warn := func(allowed bool, texts ...string) webhooktest.Answer {
		return webhooktest.Respond(&admissionv1.AdmissionResponse{Allowed: allowed, Warnings: texts})
	}
	c.hook.ScriptPath("/a", warn(true, "one"))
	c.hook.ScriptPath("/b", warn(false, "two", strings.Repeat("x", 5000)))
	c.hook.ScriptPath("/m", warn(true, "zero"))
	for _, name := range []string{"a", "b"} {
		c.register("Validating", name, "/"+name, rule("CREATE", "", "v1", "configmaps"))
	}
	c.register("Mutating", "m", "/m", rule("CREATE", "", "v1", "configmaps"))
	got := c.want(400, "POST", maps, `{"metadata":{"name":"m"}}`).Header.Values("Warning")
	if len(got) != 4 || !slices.Equal(got[:3], []string{`299 - "zero"`, `299 - "one"`, `299 - "two"`}) ||
		len(got[3]) > 4200 {
		t.Errorf("%d warnings, %.100q", len(got), got)
	}
}

// TestWebhookGetsItsTimeout: the timeout that a webhook gets is its own, or the remaining time of the request if that
// is shorter (L-63, L-S16).
func TestWebhookGetsItsTimeout(t *testing.T) {
	t.Parallel()
	c := start(t)
	slow := func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		time.Sleep(1050 * time.Millisecond) // it is slow
		webhooktest.Allow(w, review)
	}
	c.hook.ScriptPath("/m1", slow)
	for _, m := range []struct{ kind, name, timeout string }{
		{"Mutating", "m1", "20"}, {"Mutating", "m2", "5"}, {"Mutating", "m3", "20"},
		{"Validating", "v1", "5"}, {"Validating", "v2", "10"}, {"Validating", "v3", "20"},
	} {
		c.register(m.kind, m.name, "/"+m.name, rule("CREATE", "", "v1", "configmaps"), `"timeoutSeconds":`+m.timeout)
	}
	c.want(201, "POST", maps+"?timeout=10s", `{"metadata":{"name":"m"}}`)
	got := map[string]int{}
	for _, s := range c.hook.Seen() {
		var seconds int
		if _, err := fmt.Sscanf(s.Query, "timeout=%ds", &seconds); err != nil {
			t.Errorf("query %s: %v", s.Query, err)
		}
		got[s.Path] = seconds
	}
	if got["/m1"] != 10 || got["/m2"] != 5 || got["/v1"] != 5 {
		t.Errorf("timeouts %v", got)
	}
	if left := got["/m3"]; left > 9 || left < 5 || got["/v2"] > left || got["/v3"] != got["/v2"] {
		t.Errorf("timeouts %v", got) // 9 and 9, unless the machine is slow
	}
}

// TestRequestEnds: a call that takes longer than the webhook's timeout fails. A call that takes longer than the
// request's timeout ends the request, independent of the failure policy (L-83, L-S16).
func TestRequestEnds(t *testing.T) {
	t.Parallel()
	c := start(t)
	held := make(chan struct{})
	t.Cleanup(func() { close(held) })
	c.hook.ScriptPath("/slow", func(http.ResponseWriter, *admissionv1.AdmissionReview) { <-held })
	c.register("Mutating", "m", "/slow", rule("CREATE", "", "v1", "configmaps"), `"failurePolicy":"Ignore"`)
	c.register("Mutating", "next", "/next", rule("CREATE", "", "v1", "configmaps"))
	a := c.want(504, "POST", maps+"?timeout=1s", `{"metadata":{"name":"m"}}`)
	c.says(a, "Timeout: request did not complete within requested timeout")
	if got := c.calls(); !slices.Equal(got, []string{"/slow"}) {
		t.Errorf("calls %v", got)
	}
	c.want(200, "DELETE", hookConfigs+"mutatingwebhookconfigurations", nil)
	c.register("Validating", "v", "/slow", rule("CREATE", "", "v1", "configmaps"), `"timeoutSeconds":1`)
	began := time.Now()
	a = c.want(500, "POST", maps, `{"metadata":{"name":"m"}}`)
	if m := a.Status().Message; !strings.HasSuffix(m, "/slow?timeout=1s\": context deadline exceeded") ||
		time.Since(began) > 10*time.Second {
		t.Errorf("message %s after %v", m, time.Since(began))
	}
	c.want(404, "GET", maps+"/m", nil)
	c.want(201, "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`)
}
