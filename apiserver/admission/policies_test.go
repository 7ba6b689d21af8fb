package admission_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// TestPoliciesEnforceRulesOfLibraries: the libraries are public. Each file of testdata/policies has a policy, its
// binding and its params, and then objects, each with a comment on the outcome:
//
//	passes             it is created
//	denied: MESSAGE    it is not; denied 403: MESSAGE, if the code is not 422
//	warns: MESSAGE     it is created with a warning
//	becomes            the object that was created last has at least these fields
//
// With update or delete before these words, the object is updated or deleted, not created. Without the binding, no
// request causes a denial, a warning or a change.
func TestPoliciesEnforceRulesOfLibraries(t *testing.T) {
	s := apiservertest.Start(t, nil)
	c := &client{Server: s, t: t, kinds: map[string]metav1.APIResource{}}
	for _, definition := range read(t, filepath.Join("testdata", "policysettings.yaml")) {
		created := c.do(http.MethodPost, definition, "")
		c.want(http.StatusCreated, created)
		definition.object.SetResourceVersion(created.Object().GetResourceVersion())
		c.want(http.StatusOK, c.do(http.MethodPut, definition, "", "status"))
	}
	files, err := filepath.Glob(filepath.Join("testdata", "policies", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%q %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			c := &client{Server: s, t: t, kinds: c.kinds}
			c.play(read(t, file))
		})
	}
}

// document is an object of a file.
type document struct {
	object *unstructured.Unstructured
	// method is the method of the request with the document. outcome is the first word of the comment. It is empty for
	// the setup.
	method, outcome, message string
	// code is the code of a denial.
	code int
}

// read returns the documents of a file.
func read(t *testing.T, file string) (all []*document) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, part := range strings.Split(string(data), "\n---\n") {
		d := &document{object: &unstructured.Unstructured{}, method: http.MethodPost, code: http.StatusUnprocessableEntity}
		if err := yaml.UnmarshalStrict([]byte(part), &d.object.Object); err != nil {
			t.Fatalf("%s, document %d: %v", file, i, err)
		}
		comment, _, _ := strings.Cut(part, "\n")
		if comment, ok := strings.CutPrefix(comment, "# "); ok && i > 0 {
			d.expect(t, comment)
		}
		all = append(all, d)
	}
	return all
}

// expect parses the comment with the outcome.
func (d *document) expect(t *testing.T, comment string) {
	t.Helper()
	words, message, _ := strings.Cut(comment, ": ")
	d.message = message
	for _, word := range strings.Fields(words) {
		switch word {
		case "update":
			d.method = http.MethodPut
		case "delete":
			d.method = http.MethodDelete
		case "passes", "denied", "warns", "becomes":
			d.outcome = word
		default:
			code, err := strconv.Atoi(word)
			if err != nil {
				t.Fatalf("%q: unknown word %q", comment, word)
			}
			d.code = code
		}
	}
}

// client makes requests with documents.
type client struct {
	*apiservertest.Server
	t *testing.T
	// kinds caches the results of discovery.
	kinds map[string]metav1.APIResource
}

// resource returns the resource of an object's kind from discovery.
func (c *client) resource(o *unstructured.Unstructured) metav1.APIResource {
	c.t.Helper()
	if r, ok := c.kinds[o.GetKind()]; ok {
		return r
	}
	var list struct{ Resources []metav1.APIResource }
	if err := yaml.Unmarshal(c.Do("GET", root(o), nil).Body, &list); err != nil {
		c.t.Fatal(err)
	}
	for _, r := range list.Resources {
		if r.Kind == o.GetKind() && !strings.Contains(r.Name, "/") {
			c.kinds[r.Kind] = r
			return r
		}
	}
	c.t.Fatalf("%s is not served", o.GroupVersionKind())
	return metav1.APIResource{}
}

// root returns the path of an object's group version.
func root(o *unstructured.Unstructured) string {
	if strings.Contains(o.GetAPIVersion(), "/") {
		return "/apis/" + o.GetAPIVersion()
	}
	return "/api/" + o.GetAPIVersion()
}

// do sends a request with the object of a document. query begins with "?".
func (c *client) do(method string, d *document, query string, subresource ...string) apiservertest.Answer {
	c.t.Helper()
	r, path := c.resource(d.object), root(d.object)
	if r.Namespaced {
		path += "/namespaces/" + d.object.GetNamespace()
	}
	path += "/" + r.Name
	var body any = d.object
	if method != http.MethodPost {
		path = strings.Join(append([]string{path, d.object.GetName()}, subresource...), "/")
	}
	if method == http.MethodGet || method == http.MethodDelete {
		body = nil
	}
	return c.Do(method, path+query, body)
}

func (c *client) want(code int, a apiservertest.Answer) {
	c.t.Helper()
	if a.Code != code {
		c.t.Fatalf("%d %s, want %d", a.Code, a.Body, code)
	}
}

// play sends the requests of a file, sends them again without the binding, and removes the remaining objects.
func (c *client) play(all []*document) {
	defer c.remove(all)
	var created *document
	for _, d := range all {
		switch {
		case d.outcome == "":
			c.want(http.StatusCreated, c.do(d.method, d, ""))
		case d.outcome == "becomes":
			c.contains(c.do(http.MethodGet, created, ""), d, true)
		default:
			c.check(d, c.do(d.method, d, ""))
			created = d
		}
	}
	for _, d := range all {
		if strings.HasSuffix(d.object.GetKind(), "AdmissionPolicyBinding") {
			c.want(http.StatusOK, c.do(http.MethodDelete, d, ""))
		}
	}
	for i, d := range all {
		switch d.outcome {
		case "denied":
			c.admitted(d, c.do(d.method, d, "?dryRun=All"))
		case "warns":
			a := c.do(http.MethodPut, d, "?dryRun=All")
			c.admitted(d, a)
		case "becomes":
			created = all[i-1]
			c.want(http.StatusOK, c.do(http.MethodDelete, created, "?gracePeriodSeconds=0"))
			a := c.do(http.MethodPost, created, "")
			c.admitted(created, a)
			c.contains(a, d, false)
		}
	}
}

// check compares the response with the document's outcome.
func (c *client) check(d *document, a apiservertest.Answer) {
	c.t.Helper()
	if d.outcome != "denied" {
		c.admitted(d, a, d.message)
		return
	}
	denied := "denied request: " + d.message
	st := a.Status()
	if a.Code != d.code || !strings.HasSuffix(st.Message, denied) || st.Details == nil || len(st.Details.Causes) != 1 ||
		!strings.HasSuffix(st.Details.Causes[0].Message, denied) {
		c.t.Errorf("%s %s: %d %s, want %d %s", d.method, d.object.GetName(), a.Code, a.Body, d.code, denied)
	}
	exists := d.method != http.MethodPost
	if have := c.do(http.MethodGet, d, "").Code == http.StatusOK; have != exists {
		c.t.Errorf("%s %s was denied, and exists afterwards: %t", d.method, d.object.GetName(), have)
	}
}

// admitted fails the test if the request failed, or if it has other warnings than the messages.
func (c *client) admitted(d *document, a apiservertest.Answer, messages ...string) {
	c.t.Helper()
	var want []string
	for _, m := range messages {
		if m != "" {
			want = append(want, fmt.Sprintf("299 - %q", m))
		}
	}
	if have := a.Header.Values("Warning"); a.Code/100 != 2 || !slices.Equal(have, want) {
		c.t.Errorf("%s %s: %d %s, warnings %q, want %q", d.method, d.object.GetName(), a.Code, a.Body, have, want)
	}
}

// contains fails the test unless the response's object has all fields of the document's object. If want is false, it
// must lack one.
func (c *client) contains(a apiservertest.Answer, d *document, want bool) {
	c.t.Helper()
	if contains(a.Object().Object, d.object.Object) != want {
		c.t.Errorf("contained should be %t: %v in %s", want, d.object.Object, a.Body)
	}
}

// contains reports whether have has all fields of want. Lists must have the same length.
func contains(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		have, ok := have.(map[string]any)
		for k, v := range want {
			ok = ok && contains(have[k], v)
		}
		return ok
	case []any:
		have, ok := have.([]any)
		return ok && slices.EqualFunc(have, want, contains)
	case float64: // of YAML; answers have integers
		return fmt.Sprint(have) == fmt.Sprint(want)
	}
	return reflect.DeepEqual(have, want)
}

// remove deletes the objects that a file has created, so that they don't affect the next file.
func (c *client) remove(all []*document) {
	for _, d := range slices.Backward(all) {
		if a := c.do(http.MethodDelete, d, "?gracePeriodSeconds=0"); a.Code > http.StatusNotFound {
			c.t.Errorf("removing %s: %d %s", d.object.GetName(), a.Code, a.Body)
		}
	}
}
