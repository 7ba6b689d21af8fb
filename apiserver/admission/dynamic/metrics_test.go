package dynamic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"

	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

// TestWebhookMetricsHaveUpstreamsNames: the metrics of webhook calls, rejections, ignored failures and match conditions
// have upstream's names (L-110, L-111, L-112).
func TestWebhookMetricsHaveUpstreamsNames(t *testing.T) {
	c := start(t)
	refuse := func(code int32) webhooktest.Answer {
		return webhooktest.Respond(&admissionv1.AdmissionResponse{Result: deny(code, "", "no")})
	}
	c.hook.ScriptPath("/deny", refuse(403))
	c.hook.ScriptPath("/long", refuse(777))
	c.hook.ScriptPath("/broken", func(w http.ResponseWriter, _ *admissionv1.AdmissionReview) {
		http.Error(w, "boom", http.StatusTeapot)
	})
	c.hook.ScriptPath("/bad", patch(`[{"op":"remove","path":"/metadata/labels/absent"}]`))
	for _, name := range []string{"ok", "deny", "long", "broken"} {
		c.register("Validating", name, "/"+name, rule("CREATE", "", "v1", "configmaps"),
			`"objectSelector":{"matchLabels":{"for":"`+name+`"}}`)
	}
	c.register("Validating", "open", "/broken", rule("CREATE", "", "v1", "configmaps"), `"failurePolicy":"Ignore"`,
		`"objectSelector":{"matchLabels":{"for":"open"}}`)
	c.register("Mutating", "bad", "/bad", rule("CREATE", "", "v1", "configmaps"),
		`"objectSelector":{"matchLabels":{"for":"bad"}}`)
	conditions := func(all ...string) string {
		for i, one := range all {
			all[i] = fmt.Sprintf(`{"name":"c%d","expression":%q}`, i, one)
		}
		return `"matchConditions":[` + strings.Join(all, ",") + `]`
	}
	c.register(
		"Validating", "never", "/ok", rule("CREATE", "", "v1", "configmaps"), conditions("object.absent == 1", "false"))
	for name, code := range map[string]int{"ok": 201, "deny": 403, "long": 777, "broken": 500, "open": 201, "bad": 500} {
		c.want(code, "POST", maps, `{"metadata":{"name":"`+name+`","labels":{"for":"`+name+`"}}}`)
	}
	text := string(c.want(200, "GET", "/metrics", nil).Body)
	for _, line := range []string{
		`webhook_request_total{code="200",name="ok.example.com",operation="CREATE",rejected="false",type="validating"} 1`,
		`webhook_request_total{code="403",name="deny.example.com",operation="CREATE",rejected="true",type="validating"} 1`,
		`webhook_request_total{code="600",name="long.example.com",operation="CREATE",rejected="true",type="validating"} 1`,
		`webhook_request_total{code="418",name="broken.example.com",operation="CREATE",rejected="true",type="validating"} 1`,
		`webhook_request_total{code="418",name="open.example.com",operation="CREATE",rejected="false",type="validating"} 1`,
		`webhook_request_total{code="0",name="bad.example.com",operation="CREATE",rejected="true",type="admit"} 1`,
		`webhook_rejection_count{error_type="no_error",name="deny.example.com",` +
			`operation="CREATE",rejection_code="403",type="validating"} 1`,
		`webhook_rejection_count{error_type="calling_webhook_error",name="broken.example.com",` +
			`operation="CREATE",rejection_code="418",type="validating"} 1`,
		`webhook_rejection_count{error_type="apiserver_internal_error",name="bad.example.com",` +
			`operation="CREATE",rejection_code="0",type="admit"} 1`,
		`webhook_fail_open_count{name="open.example.com",type="validating"} 1`,
		`webhook_admission_duration_seconds_bucket{name="ok.example.com",` +
			`operation="CREATE",rejected="false",type="validating",le="25"} 1`,
		`match_condition_evaluation_errors_total{kind="webhook",name="never.example.com",` +
			`operation="CREATE",type="validating"} 5`,
		`match_condition_exclusions_total{kind="webhook",name="never.example.com",operation="CREATE",type="validating"} 5`,
		`match_condition_evaluation_seconds_count{kind="webhook",name="never.example.com",` +
			`operation="CREATE",type="validating"} 5`,
		`step_admission_duration_seconds_count{operation="CREATE",rejected="true",type="validate"} 3`,
		`step_admission_duration_seconds_count{operation="CREATE",rejected="true",type="admit"} 1`,
		`step_admission_duration_seconds_summary_count{operation="CREATE",rejected="true",type="validate"} 3`,
	} {
		if !strings.Contains(text, "apiserver_admission_"+line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
	if strings.Contains(text, `webhook_rejection_count{error_type="calling_webhook_error",name="open.example.com"`) {
		t.Error("an ignored failure counts as a rejection")
	}
}

// TestSeriesEndWithTheWebhook: the series of a webhook are removed with it, even if its configuration stays.
func TestSeriesEndWithTheWebhook(t *testing.T) {
	c := start(t)
	const path = hookConfigs + "validatingwebhookconfigurations/h"
	create := rule("CREATE", "", "v1", "configmaps")
	c.want(201, "POST", hookConfigs+"validatingwebhookconfigurations", c.configuration(
		"Validating", "h", c.webhook("kept", "/", create), c.webhook("gone", "/", create)))
	series := func() (kept, gone bool) {
		c.want(201, "POST", maps, `{"metadata":{"generateName":"m"}}`)
		text := string(c.want(200, "GET", "/metrics", nil).Body)
		return strings.Contains(text, `name="kept.example.com"`), strings.Contains(text, `name="gone.example.com"`)
	}
	if kept, gone := series(); !kept || !gone {
		t.Fatalf("kept %v, gone %v", kept, gone)
	}
	c.want(200, "PATCH", path, `[{"op":"remove","path":"/webhooks/1"}]`)
	if kept, gone := series(); !kept || gone {
		t.Errorf("kept %v, gone %v", kept, gone)
	}
}
