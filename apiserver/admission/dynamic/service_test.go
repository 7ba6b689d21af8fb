package dynamic_test

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
)

const services = "/api/v1/namespaces/default/services"

// byService returns a webhook that is called through a Service. Its certificate has the Service's name.
func (c *cluster) byService(name, service string, port int) string {
	return fmt.Sprintf(`{"name":"%s.example.com","clientConfig":{"service":{"namespace":"default","name":%q,"port":%d,`+
		`"path":"/%s"},"caBundle":%s},"rules":[%s],"sideEffects":"None","admissionReviewVersions":["v1"]}`,
		name, service, port, name, encode(c.hook.CA), rule("CREATE", "", "v1", "configmaps"))
}

// TestWebhookFollowsItsService: a webhook with a Service is called at the address that the Service has at the time of
// the call (L-72, L-73, O-05).
func TestWebhookFollowsItsService(t *testing.T) {
	c := start(t)
	c.hook = webhooktest.StartFor(t, "svc.default.svc", "external.default.svc")
	at, err := url.Parse(c.hook.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(at.Host)
	if err != nil {
		t.Fatal(err)
	}
	c.want(201, "POST", hookConfigs+"validatingwebhookconfigurations",
		c.configuration("Validating", "v", c.byService("v", "svc", 443)))
	fails := func(want string) {
		t.Helper()
		a := c.want(500, "POST", maps, `{"metadata":{"name":"m"}}`)
		const head = `Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: ` +
			`Post "https://svc.default.svc:443/v?timeout=10s": `
		if m := a.Status().Message; !strings.HasPrefix(m, head+want) {
			t.Errorf("message %s\nwant %s", m, head+want)
		}
	}
	fails(`service "svc" not found`)
	const svc = `{"metadata":{"name":"svc"},"spec":{"ports":[{"name":"https","port":%d,"targetPort":"x"}]}}`
	c.want(201, "POST", services, fmt.Sprintf(svc, 8443))
	fails(`no service port 443 found for service "svc"`)
	c.want(200, "PUT", services+"/svc", fmt.Sprintf(svc, 443))
	fails(`no endpoints available for service "svc"`)
	c.want(201, "POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", `{"metadata":{"name":"svc-1",`+
		`"labels":{"kubernetes.io/service-name":"svc"}},"addressType":"IPv4","ports":[{"name":"https","port":`+port+
		`}],"endpoints":[{"addresses":["127.0.0.1"]}]}`)
	c.hook.Seen()
	c.want(201, "POST", maps, `{"metadata":{"name":"m"}}`)
	if got := c.calls(); len(got) != 1 || got[0] != "/v" {
		t.Errorf("calls %v", got)
	}

	c.want(201, "POST", services,
		`{"metadata":{"name":"external"},"spec":{"type":"ExternalName","externalName":"localhost"}}`)
	var number int
	if _, err := fmt.Sscan(port, &number); err != nil {
		t.Fatal(err)
	}
	c.want(201, "POST", hookConfigs+"mutatingwebhookconfigurations",
		c.configuration("Mutating", "m", c.byService("m", "external", number)))
	c.want(201, "POST", maps, `{"metadata":{"name":"n"}}`)
	if got := c.calls(); len(got) != 2 || got[0] != "/m" {
		t.Errorf("calls %v", got)
	}
}
