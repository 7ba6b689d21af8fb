package dynamic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/webhook/webhooktest"
	"github.com/kubecascade/kubecascade/storage"
)

// TestUndecodable: if a stored configuration can't be decoded, its plugin rejects the requests that the configuration
// might deny. The plugin admits exempt requests, so that users can replace the configuration.
func TestUndecodable(t *testing.T) {
	c := start(t)
	const (
		review = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
		none   = `{"resourceRules":[{"operations":["*"],"apiGroups":["x"],"apiVersions":["*"],"resources":["*"]}]}`
	)
	for _, test := range []struct {
		plural, value string
		// what other requests get
		hooks, policies, reviews, deletes int // reviews are exempt from all (M-21, V-105)
	}{
		{"mutatingwebhookconfigurations", "garbage", 201, 201, 201, 403},
		{"validatingwebhookconfigurations", "\x00", 201, 201, 201, 403},
		{"mutatingadmissionpolicies", `{"kind":"MutatingAdmissionPolicy","metadata":{},"spec":7}`, 403, 201, 201, 200},
		{"mutatingadmissionpolicybindings", `{"kind":"ConfigMap","metadata":{}}`, 403, 201, 201, 200},
		{"validatingadmissionpolicies", "{}", 403, 201, 201, 403},
		{"validatingadmissionpolicybindings", "{", 403, 201, 201, 403},
	} {
		t.Run(test.plural, func(t *testing.T) {
			c.t = t
			c.want(201, "POST", maps, `{"metadata":{"name":"old"}}`)
			key := "/registry/" + test.plural + "/broken"
			c.Put(t, key, test.value)
			a := c.want(403, "POST", maps, `{"metadata":{"generateName":"new-"}}`)
			st, name := a.Status(), "new-" // until the name is generated
			if strings.HasPrefix(test.plural, "validating") {
				name = st.Details.Name
			}
			want := fmt.Sprintf("configmaps %q is forbidden: not yet ready to handle request", name)
			if st.Message != want || st.Reason != metav1.StatusReasonForbidden {
				t.Errorf("%s", a.Body)
			}
			c.want(200, "GET", maps+"/old", nil)
			c.want(test.hooks, "POST", hookConfigs+"validatingwebhookconfigurations", c.configuration("Validating", "x"))
			c.want(test.policies, "POST", hookConfigs+"validatingadmissionpolicies", policyOf(
				"Validating", "x", none, valid("true")))
			c.want(test.reviews, "POST", review, `{"metadata":{}}`)
			c.want(test.deletes, "DELETE", maps+"/old", nil)

			c.purge(key)
			c.want(201, "POST", maps, `{"metadata":{"name":"new"}}`)
			for _, path := range []string{
				maps + "/new", maps + "/old", hookConfigs + "validatingwebhookconfigurations/x",
				hookConfigs + "validatingadmissionpolicies/x",
			} {
				c.Do("DELETE", path, nil)
			}
		})
	}
}

// TestInvalidStoredSelectorRejectsMatchingRequests: older versions of Kubernetes accepted selectors that can't be
// parsed. Such a stored selector rejects only the requests that the rules match (L-30, M-19).
func TestInvalidStoredSelectorRejectsMatchingRequests(t *testing.T) {
	const (
		selector = `{"matchLabels":{"a":"b c"}}`
		word     = `values[0][a]: Invalid value: "b c": a valid label must be an empty string or consist of`
		match    = `{"resourceRules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],` +
			`"resources":["configmaps"]}]`
	)
	c := start(t)
	c.hook.Script(webhooktest.Respond(&admissionv1.AdmissionResponse{Allowed: true}))
	put := func(plural, value string) (key string) {
		key = "/registry/" + plural + "/x"
		c.Put(t, key, value)
		return key
	}
	check := func(code int, prefix string, keys ...string) {
		t.Helper()
		a := c.want(code, "POST", maps, `{"metadata":{"name":"m"}}`)
		if message := a.Status().Message; !strings.HasPrefix(message, prefix+word) {
			t.Errorf("%s\nwant %s%s", message, prefix, word)
		}
		c.want(http.StatusCreated, "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"generateName":"s"}}`)
		for _, key := range keys {
			c.purge(key)
		}
		c.want(http.StatusCreated, "POST", maps, `{"metadata":{"generateName":"m"}}`)
	}
	for _, of := range []string{"namespaceSelector", "objectSelector"} {
		for _, kind := range []string{"Validating", "Mutating"} {
			value := c.configuration(kind, "x",
				c.webhook("x", "/", rule("CREATE", "", "v1", "configmaps"), fmt.Sprintf(`%q:%s`, of, selector)))
			check(500, "Internal error occurred: ", put(strings.ToLower(kind)+"webhookconfigurations", value))
		}
		policy := policyOf("Validating", "x", match+fmt.Sprintf(`,%q:%s}`, of, selector), valid("true"))
		check(422, `configmaps "m" is forbidden: ValidatingAdmissionPolicy 'x' denied request: failed to configure policy: `+
			"Internal error occurred: ",
			put("validatingadmissionpolicies", policy),
			put("validatingadmissionpolicybindings", bindingOf("Validating", "x", "x")))
		check(422, `configmaps "m" is forbidden: ValidatingAdmissionPolicy 'x' with binding 'x' denied request: `+
			"failed to configure binding: Internal error occurred: ",
			put("validatingadmissionpolicies", policyOf("Validating", "x", match+"}", valid("true"))),
			put("validatingadmissionpolicybindings", bindingOf("Validating", "x", "x",
				fmt.Sprintf(`"matchResources":{%q:%s}`, of, selector))))
	}
	check(422, `configmaps "m" is forbidden: ValidatingAdmissionPolicy 'x' with binding 'x' denied request: `+
		"failed to configure binding: ",
		put("validatingadmissionpolicies", policyOf("Validating", "x", match+"}", valid("true"),
			`"paramKind":{"apiVersion":"v1","kind":"ConfigMap"}`)),
		put("validatingadmissionpolicybindings", bindingOf("Validating", "x", "x",
			`"paramRef":{"parameterNotFoundAction":"Allow","selector":`+selector+`}`)))
}

// purge removes a key from the store.
func (c *cluster) purge(key string) {
	c.t.Helper()
	r, err := c.Store.Get(c.t.Context(), key)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.Store.Commit(c.t.Context(), storage.Txn{Key: key, Expect: r.ModRevision}); err != nil {
		c.t.Fatal(err)
	}
}
