package dynamic_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestPluginMetrics: each plugin is observed only for the operations for which upstream calls it (L-112).
func TestPluginMetrics(t *testing.T) {
	c := start(t)
	c.want(201, "POST", maps, `{"metadata":{"name":"m"}}`)
	c.want(404, "POST", "/api/v1/namespaces/none/configmaps", `{"metadata":{"name":"m"}}`)
	c.want(200, "DELETE", maps+"/m", nil)
	text := string(c.want(200, "GET", "/metrics", nil).Body)
	count := func(name, operation, rejected, step string) string {
		return fmt.Sprintf(`apiserver_admission_controller_admission_duration_seconds_count{name="%s",operation="%s",`+
			`rejected="%s",type="%s"} `, name, operation, rejected, step)
	}
	for line, want := range map[string]bool{
		count("NamespaceLifecycle", "CREATE", "true", "admit") + "1\n":             true,
		count("NamespaceLifecycle", "DELETE", "false", "admit") + "1\n":            true,
		count("ResourceQuota", "CREATE", "false", "validate"):                      true,
		count("ValidatingAdmissionWebhook", "DELETE", "false", "validate") + "1\n": true,
		count("LimitRanger", "DELETE", "false", "admit"):                           false,
		count("MutatingAdmissionPolicy", "DELETE", "false", "admit"):               false,
		count("PolicyParams", "CREATE", "false", "admit"):                          false,
		count("PolicyParams", "CREATE", "false", "validate"):                       false,
	} {
		if strings.Contains(text, line) != want {
			t.Errorf("%s: there is %v", line, !want)
		}
	}
	const bucket = `name="NamespaceLifecycle",operation="CREATE",rejected="true",type="admit",le="`
	for _, le := range []string{"0.005", "0.025", "0.1", "0.5", "1", "2.5", "+Inf"} {
		if !strings.Contains(text, bucket+le+`"} `) {
			t.Errorf("there is no bucket %s", le)
		}
	}
}
