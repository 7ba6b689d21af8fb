package dynamic_test

import (
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// TestWebhooksGetConnectionOptions: the object that webhooks get for a CONNECT has the connection's options. The
// webhooks are called before the server looks up the connection's target (L-21, L-S04).
func TestWebhooksGetConnectionOptions(t *testing.T) {
	c := start(t)
	c.register("Mutating", "m", "/mutate", rule("CONNECT", "", "v1", "*/*"))
	c.register("Validating", "v", "/validate", rule("CONNECT", "", "v1", "*/*"))
	c.register("Validating", "pods", "/pods", rule("*", "", "v1", "pods"))
	const exec = `{"kind":"PodExecOptions","apiVersion":"v1",`
	for _, test := range []struct {
		method, path string
		code         int
		// want is the summary of the request that webhooks get, and object is the object in it. Both are empty if no
		// webhook is called.
		want, object string
	}{
		{"POST", pods + "/p/exec?command=sh&command=-c&stdin=true&tty=1&stdout=false&container=c&other=x", 404,
			"CONNECT PodExecOptions pods/exec p default new ",
			exec + `"stdin":true,"tty":true,"container":"c","command":["sh","-c"]}`},
		{"GET", pods + "/p/exec", 404, "CONNECT PodExecOptions pods/exec p default new ", exec + `"command":null}`},
		{"POST", pods + "/p/attach?stderr=true", 404, "CONNECT PodAttachOptions pods/attach p default new ",
			`{"kind":"PodAttachOptions","apiVersion":"v1","stderr":true}`},
		{"POST", pods + "/p/portforward?ports=80,81&ports=82", 404,
			"CONNECT PodPortForwardOptions pods/portforward p default new ",
			`{"kind":"PodPortForwardOptions","apiVersion":"v1","ports":[80,81,82]}`},
		{"GET", pods + "/p/proxy", 404, "CONNECT PodProxyOptions pods/proxy p default new ",
			`{"kind":"PodProxyOptions","apiVersion":"v1"}`},
		{"DELETE", "/api/v1/namespaces/default/services/s/proxy/a/b?path=c", 404,
			"CONNECT ServiceProxyOptions services/proxy s default new ",
			`{"kind":"ServiceProxyOptions","apiVersion":"v1","path":"/a/b"}`},
		{"OPTIONS", "/api/v1/nodes/n/proxy/a", 404, "CONNECT NodeProxyOptions nodes/proxy n  new ",
			`{"kind":"NodeProxyOptions","apiVersion":"v1","path":"/a"}`},
		{"HEAD", "/api/v1/nodes/n/proxy", 404, "CONNECT NodeProxyOptions nodes/proxy n  new ",
			`{"kind":"NodeProxyOptions","apiVersion":"v1"}`},
		{"POST", "/api/v1/namespaces/absent/pods/p/exec?command=sh", 404,
			"CONNECT PodExecOptions pods/exec p absent new ", exec + `"command":["sh"]}`},
		{"GET", pods + "/p/log", 404, "", ""},
		{"POST", pods + "/p/exec?command=sh&dryRun=All", 400, "", ""},
		{"POST", pods + "/p/portforward?ports=http", 400, "", ""},
		{"PUT", pods + "/p/exec", 405, "", ""},
	} {
		c.hook.Seen()
		c.want(test.code, test.method, test.path, nil)
		seen := c.hook.Seen()
		if test.want == "" {
			if len(seen) > 0 {
				t.Errorf("%s %s: %d calls", test.method, test.path, len(seen))
			}
			continue
		}
		if len(seen) != 2 || seen[0].Path != "/mutate" || seen[1].Path != "/validate" {
			t.Errorf("%s %s: %d calls", test.method, test.path, len(seen))
			continue
		}
		for _, s := range seen {
			r := s.Review.Request
			if got := summary(r); got != test.want || string(r.Object.Raw) != test.object || *r.DryRun {
				t.Errorf("%s %s, %s:\n  got %s %s\n want %s %s", test.method, test.path, s.Path, got, r.Object.Raw, test.want,
					test.object)
			}
		}
	}
}

// TestWebhookDeniesConnection: the denial of a webhook is the response, and a webhook may change the options (L-S04).
func TestWebhookDeniesConnection(t *testing.T) {
	c := start(t)
	c.hook.ScriptPath("/add", patch(`[{"op":"add","path":"/command/-","value":"added"}]`))
	c.hook.ScriptPath("/deny", func(w http.ResponseWriter, review *admissionv1.AdmissionReview) {
		webhooktest.Respond(&admissionv1.AdmissionResponse{
			Result: deny(403, "Forbidden", string(review.Request.Object.Raw)),
		})(w, review)
	})
	c.register("Mutating", "m", "/add", rule("CONNECT", "", "v1", "pods/exec"))
	c.register("Validating", "v", "/deny", rule("CONNECT", "", "v1", "pods/exec"))
	a := c.want(403, "POST", pods+"/p/exec?command=sh", nil)
	if m := a.Status().Message; !strings.HasPrefix(m, `admission webhook "v.example.com" denied the request: `) ||
		!strings.Contains(m, `"command":["sh","added"]`) {
		t.Errorf("message %s", m)
	}
	c.want(404, "POST", pods+"/p/attach", nil)
}
