package endpoints_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
	"github.com/kubecascade/kubecascade/apiserver/resources"
)

// minimal reads testdata/objects.yaml.
func minimal(t *testing.T) map[string]map[string]any {
	t.Helper()
	data, err := os.ReadFile("testdata/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	csr := signingRequest(t)
	der, _ := pem.Decode(csr)
	text := strings.NewReplacer(
		"@csr", base64.StdEncoding.EncodeToString(csr), "@stub", base64.StdEncoding.EncodeToString(der.Bytes),
		"@ca", strings.ReplaceAll(string(trustAnchor(t)), "\n", `\n`)).Replace(string(data))
	out := map[string]map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// minimalOf returns the object of a resource in its version, or otherwise the one for all versions.
func minimalOf(objects map[string]map[string]any, r *resources.Resource) map[string]any {
	if obj, ok := objects[strings.TrimSuffix(r.Plural+"."+r.Version+"."+r.Group, ".")]; ok {
		return obj
	}
	return objects[strings.TrimSuffix(r.Plural+"."+r.Group, ".")]
}

func signingRequest(t *testing.T) []byte {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(
		rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "x"}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

// trustAnchor returns a certificate for a ClusterTrustBundle.
func trustAnchor(t *testing.T) []byte {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, public, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// pathOf returns the collection's path.
func pathOf(r *resources.Resource) string {
	path := "/apis/" + r.Group + "/" + r.Version
	if r.Group == "" {
		path = "/api/" + r.Version
	}
	if r.Namespaced {
		path += "/namespaces/default"
	}
	return path + "/" + r.Plural
}

// TestEveryResource sends requests with each verb to each stored resource.
func TestEveryResource(t *testing.T) {
	apiservertest.Sequential(t)
	s := apiservertest.Start(t, nil)
	objects := minimal(t)
	for _, r := range resources.Builtin() {
		if r.Collection == "" {
			continue
		}
		name := strings.TrimSuffix(r.Plural+"."+r.Group, ".")
		obj := minimalOf(objects, r)
		t.Run(name+"/"+r.Version, func(t *testing.T) {
			if obj == nil {
				t.Fatal("testdata/objects.yaml has no object")
			}
			w := &walk{t: t, s: s, r: r, obj: &unstructured.Unstructured{Object: obj}}
			w.create()
			w.read()
			w.change()
			w.subresources()
			w.remove()
		})
	}
}

// walk creates, changes and deletes an object of one resource.
type walk struct {
	t   *testing.T
	s   *apiservertest.Server
	r   *resources.Resource
	obj *unstructured.Unstructured
	// path is the path of the object. created is the object as it was created.
	path    string
	created *unstructured.Unstructured
}

// do sends a request whose response must have one of the codes.
func (w *walk) do(method, path string, body any, header []string, codes ...int) apiservertest.Answer {
	w.t.Helper()
	a := w.s.Do(method, path, body, header...)
	if !slices.Contains(codes, a.Code) {
		w.t.Fatalf("%s %s: %d %s", method, path, a.Code, a.Body)
	}
	return a
}

func (w *walk) create() {
	if w.obj.GetName() == "" {
		w.obj.SetName("x")
	}
	w.obj.SetLabels(map[string]string{"walk": w.r.Plural})
	a := w.do("POST", pathOf(w.r)+"?fieldValidation=Strict", w.obj.Object, nil, http.StatusCreated)
	w.created = a.Object()
	w.path = pathOf(w.r) + "/" + w.created.GetName()
	if got := w.created.GroupVersionKind(); got != w.r.GroupVersionKind() {
		w.t.Errorf("created a %v", got)
	}
	for _, field := range []string{
		string(w.created.GetUID()), w.created.GetResourceVersion(), w.created.GetCreationTimestamp().String(),
	} {
		if field == "" {
			w.t.Errorf("metadata %v", w.created.Object["metadata"])
		}
	}
}

func (w *walk) read() {
	got := w.do("GET", w.path, nil, nil, http.StatusOK).Object()
	if !same(got.Object, w.created.Object) {
		w.t.Errorf("created %v\n   but read %v", w.created, got)
	}
	list := w.do("GET", pathOf(w.r)+"?labelSelector=walk", nil, nil, http.StatusOK).List()
	if list.GetKind() != w.r.Kind+"List" || len(list.Items) != 1 {
		w.t.Errorf("listed %d, a %s", len(list.Items), list.GetKind())
	}
	table := w.do(
		"GET", pathOf(w.r)+"?labelSelector=walk", nil, []string{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"},
		http.StatusOK)
	var rows metav1.Table
	if err := json.Unmarshal(table.Body, &rows); err != nil || len(rows.Rows) != 1 ||
		len(rows.Rows[0].Cells) < len(rows.ColumnDefinitions) {
		w.t.Errorf("table %s: %v", table.Body, err)
	}
	for _, media := range []string{"application/yaml", "application/vnd.kubernetes.protobuf"} {
		w.do("GET", w.path, nil, []string{"Accept", media}, http.StatusOK)
		w.do("GET", pathOf(w.r), nil, []string{"Accept", media}, http.StatusOK)
	}
}

// change patches and replaces the object, and watches these changes.
func (w *walk) change() {
	watch := w.s.Watch(pathOf(w.r) + "?watch=true&labelSelector=walk&resourceVersion=" + w.created.GetResourceVersion())
	defer watch.Close()
	for i, media := range []string{"application/merge-patch+json", "application/strategic-merge-patch+json"} {
		value := media[12:17]
		patch := `{"metadata":{"annotations":{"patched":"` + value + `"}}}`
		got := w.do("PATCH", w.path, patch, []string{"Content-Type", media}, http.StatusOK).Object()
		e, err := watch.Next()
		if err != nil || e.Type != "MODIFIED" || !same(e.Object.Object, got.Object) ||
			got.GetAnnotations()["patched"] != value {
			w.t.Fatalf("patch %d: %v; watched %v, %v", i, got, e, err)
		}
	}
	next := w.do("GET", w.path, nil, nil, http.StatusOK).Object()
	next.SetAnnotations(map[string]string{"put": "1"})
	w.do("PUT", w.path, next.Object, nil, http.StatusOK)
	if e, err := watch.Next(); err != nil || e.Type != "MODIFIED" || e.Object.GetAnnotations()["put"] != "1" {
		w.t.Errorf("put: watched %v, %v", e, err)
	}
	w.do("PATCH", w.path+"?fieldManager=walk&force=true", `{"apiVersion":"`+w.r.GroupVersion().
		String()+`","kind":"`+w.r.Kind+`","metadata":{"name":"`+next.GetName()+`","annotations":{"applied":"1"}}}`,
		[]string{"Content-Type", "application/apply-patch+yaml"}, http.StatusOK)
}

// subresources checks the response codes of subresources that are a part of the object.
func (w *walk) subresources() {
	for _, sub := range w.r.Subresources {
		path := w.path + "/" + sub.Name
		if sub.Has("get") && !sub.Action.Connects() {
			w.do("PATCH", path, `{"metadata":{}`+statusOf(w.r.Plural)+`}`, nil, http.StatusOK)
			got := w.do("GET", path, nil, nil, http.StatusOK).Object()
			w.do("PUT", path, got.Object, nil, http.StatusOK)
			w.do("PATCH", path, `{}`, nil, http.StatusOK)
		}
	}
}

// statusOf returns the member that every valid status of a kind has, as a part of a merge patch. It is empty if there
// is none.
func statusOf(plural string) string {
	if plural == "storageversionmigrations" {
		return `,"status":{"resourceVersion":"1"}`
	}
	return ""
}

// remove deletes the object, and another one by a DELETE of the collection.
func (w *walk) remove() {
	w.do("DELETE", w.path+"?propagationPolicy=Background&gracePeriodSeconds=0", nil, nil, http.StatusOK)
	switch {
	case w.r.Plural == "namespaces":
		finalize := w.do("GET", w.path, nil, nil, http.StatusOK).Object()
		unstructured.RemoveNestedField(finalize.Object, "spec", "finalizers")
		w.do("PUT", w.path+"/finalize", finalize.Object, nil, http.StatusOK)
	default: // a finalizer that protects an object in use, or that a controller removes
		if a := w.s.Do("GET", w.path, nil); a.Code == http.StatusOK {
			w.do("PATCH", w.path, `{"metadata":{"finalizers":null}}`, nil, http.StatusOK)
		}
	}
	w.do("GET", w.path, nil, nil, http.StatusNotFound)
	if !w.r.Has("deletecollection") {
		w.do("DELETE", pathOf(w.r), nil, nil, http.StatusMethodNotAllowed)
		return
	}
	w.do("POST", pathOf(w.r), w.obj.Object, nil, http.StatusCreated)
	a := w.do("DELETE", pathOf(w.r)+"?propagationPolicy=Background&gracePeriodSeconds=0&labelSelector=walk", nil, nil,
		http.StatusOK)
	if n := len(a.List().Items); n != 1 {
		w.t.Errorf("deleted a collection of %d", n)
	}
	if a := w.s.Do("GET", w.path, nil); a.Code == http.StatusOK {
		w.do("PATCH", w.path, `{"metadata":{"finalizers":null}}`, nil, http.StatusOK)
	}
	w.do("GET", w.path, nil, nil, http.StatusNotFound)
}

// same compares JSON values.
func same(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}
