package endpoints_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/storage/storagetest"
)

// TestPodSecurity runs testdata/podsecurity. The first line of a request is the method and the path, the rest is the
// body in YAML. The output has the code, the Status and the Warning headers. Requests of the command "before" go to a
// server over the same store that doesn't have the plugin.
func TestPodSecurity(t *testing.T) {
	datadriven.Walk(t, "testdata/podsecurity", func(t *testing.T, path string) {
		store, now := storagetest.Open(t), time.Now()
		s := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
			c.Now = func() time.Time { return now } // the check of a namespace's pods never reaches its deadline
		}})
		before := apiservertest.Start(t, &apiservertest.Options{Store: store, Configure: func(c *apiserver.Config) {
			c.DisableAdmission = []string{"PodSecurity"}
		}})
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "send":
				return podSecurityAnswer(t, s, d)
			case "before":
				return podSecurityAnswer(t, before, d)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

// generated is the suffix of a name that the server generated.
var generated = regexp.MustCompile(`generated-[a-z0-9]{5}`)

func podSecurityAnswer(t *testing.T, s *apiservertest.Server, d *datadriven.TestData) string {
	method, path, text, _ := parseRequest(t, d.Input)
	body, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	a := s.Do(method, path, body)
	var b strings.Builder
	fmt.Fprintln(&b, a.Code)
	for _, w := range a.Header.Values("Warning") {
		fmt.Fprintln(&b, "Warning:", w)
	}
	if st := a.Status(); st.Kind == "Status" && a.Code >= 400 {
		b.Write(a.Body)
	}
	return generated.ReplaceAllString(b.String(), "generated-xxxxx")
}

// TestPodSecurityWithoutNamespace: if no other plugin requires that the namespace exists, the plugin requires it for a
// pod, but not for a pod template (PSA admission/admission.go: ValidatePod, ValidatePodController).
func TestPodSecurityWithoutNamespace(t *testing.T) {
	s := apiservertest.Start(t, &apiservertest.Options{Configure: func(c *apiserver.Config) {
		c.DisableAdmission = []string{"NamespaceLifecycle"}
	}})
	const spec = `{"containers":[{"name":"c","image":"i"}]}`
	a := s.Do("POST", "/api/v1/namespaces/none/pods", `{"metadata":{"name":"p"},"spec":`+spec+`}`)
	if st := a.Status(); a.Code != 500 || st.Reason != "InternalError" ||
		st.Message != `Internal error occurred: failed to lookup namespace "none"` {
		t.Errorf("pod: %d %s", a.Code, a.Body)
	}
	a = s.Do("POST", "/api/v1/namespaces/none/podtemplates", `{"metadata":{"name":"p"},"template":{"spec":`+spec+`}}`)
	if a.Code != 201 {
		t.Errorf("template: %d %s", a.Code, a.Body)
	}
}
