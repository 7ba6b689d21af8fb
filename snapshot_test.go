package kubecascade_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/apiserver/apiservertest"
)

// session makes requests of a server.
type session struct {
	t      *testing.T
	server *kubecascade.Server
	client *http.Client
	// warnings are those of the last answer.
	warnings []string
}

func newSession(t *testing.T, s *kubecascade.Server) *session {
	c, done := client(t, s.Config())
	t.Cleanup(done)
	return &session{t: t, server: s, client: c}
}

// do makes a request, and returns the status code and the body.
func (s *session) do(method, path, body string) (int, string) {
	s.t.Helper()
	a, err := apiservertest.Send(s.client, method, s.server.URL()+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	s.warnings = a.Header.Values("Warning")
	return a.Code, string(a.Body)
}

// must is do for a request that is answered with the code.
func (s *session) must(code int, method, path, body string) string {
	s.t.Helper()
	got, data := s.do(method, path, body)
	if got != code {
		s.t.Fatalf("%s %s: %d, want %d: %s", method, path, got, code, data)
	}
	return data
}

const configMaps = "/api/v1/namespaces/default/configmaps"

const widgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
"x-kubernetes-preserve-unknown-fields":true}}}]}}`

// saved is the data directory of a server that has ended, with an owner, its dependent, a custom resource, and a
// webhook that would reject all writes. list is the server's last list of config maps.
func saved(t *testing.T) (dir, list string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	server := start(t, kubecascade.Options{Storage: kubecascade.Storage{Dir: dir}})
	s := newSession(t, server)
	s.must(201, "POST", configMaps, `{"metadata":{"name":"owner"},"data":{"a":"b"}}`)
	uid := strings.Split(strings.Split(s.must(200, "GET", configMaps+"/owner", ""), `"uid":"`)[1], `"`)[0]
	s.must(201, "POST", configMaps, fmt.Sprintf(`{"metadata":{"name":"dependent","ownerReferences":[{"apiVersion":"v1",
"kind":"ConfigMap","name":"owner","uid":%q}]}}`, uid))
	s.must(201, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", widgets)
	if err := server.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.must(201, "POST", "/apis/example.com/v1/namespaces/default/widgets",
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}}`)
	s.must(201, "POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
		`{"metadata":{"name":"rejects"},"webhooks":[{"name":"rejects.example.com","sideEffects":"None",
"admissionReviewVersions":["v1"],"clientConfig":{"url":"https://127.0.0.1:1/"},
"rules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["*"],"resources":["secrets"]}]}]}`)
	if err := server.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	list = s.must(200, "GET", configMaps, "")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	return dir, list
}

// items is what follows the metadata of a list.
func items(list string) string { return list[strings.Index(list, `"items":`):] }

// TestFromSnapshot: a server of a snapshot has the objects with their revisions, rejects writes, changes nothing by
// itself, and answers what a deletion would do.
func TestFromSnapshot(t *testing.T) {
	dir, list := saved(t)
	server := start(t, kubecascade.Options{Storage: kubecascade.Storage{FromSnapshot: dir}})
	s := newSession(t, server)
	before := s.must(200, "GET", configMaps, "")
	if items(before) != items(list) {
		t.Errorf("config maps\n%s\nwere\n%s", before, list)
	}
	s.must(200, "GET", "/apis/example.com/v1/namespaces/default/widgets/w", "")
	denied := s.must(403, "POST", configMaps, `{"metadata":{"name":"new"}}`)
	for _, part := range []string{
		`"reason":"Forbidden"`, "this server is read-only: it serves the snapshot " + dir, "--writable",
	} {
		if !strings.Contains(denied, part) {
			t.Errorf("%q is not in %s", part, denied)
		}
	}
	s.must(403, "DELETE", configMaps+"/owner", "")
	s.must(403, "DELETE", "/api/v1/namespaces/default", "")
	s.must(403, "PUT", configMaps+"/owner", `{"metadata":{"name":"owner"},"data":{"a":"c"}}`)
	s.must(201, "POST", configMaps+"?dryRun=All", `{"metadata":{"name":"new"}}`)
	s.must(201, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		`{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`)
	preview := s.must(200, "GET",
		"/kubecascade/v1/preview?resource=configmaps&namespace=default&name=owner&propagationPolicy=Background", "")
	if !strings.Contains(preview, `"dependent"`) {
		t.Errorf("the preview of a deletion: %s", preview)
	}
	if err := server.Settle(t.Context()); err != nil {
		t.Error(err)
	}
	if report := s.must(200, "GET", "/kubecascade/v1/snapshot", ""); !strings.Contains(report, `"unreadableObjects":0`) {
		t.Error(report)
	}
	if after := s.must(200, "GET", configMaps, ""); after != before {
		t.Errorf("config maps\n%s\nwere\n%s", after, before)
	}
}

// TestFromSnapshotWritable: a copy can be changed, with the controllers that are named, and stays in its directory. No
// webhook of the backup is called.
func TestFromSnapshotWritable(t *testing.T) {
	dir, _ := saved(t)
	o := kubecascade.Options{Storage: kubecascade.Storage{
		FromSnapshot: dir, Writable: true, Dir: filepath.Join(t.TempDir(), "copy"),
	}, Controllers: kubecascade.Controllers{Enabled: []string{"garbage-collector-controller"}}}
	server := start(t, o)
	s := newSession(t, server)
	s.must(201, "POST", "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"not-rejected"}}`)
	s.must(200, "DELETE", configMaps+"/owner", "")
	if err := server.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.must(404, "GET", configMaps+"/dependent", "")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := kubecascade.Start(t.Context(), o); err == nil ||
		!strings.Contains(err.Error(), "has data already: Options.Storage.FromSnapshot needs a new one") {
		t.Errorf("a second start: %v", err)
	}
	s = newSession(t, start(t, kubecascade.Options{Storage: kubecascade.Storage{Dir: o.Storage.Dir}}))
	s.must(404, "GET", configMaps+"/owner", "")
	s.must(200, "GET", "/api/v1/namespaces/default/secrets/not-rejected", "")
	s = newSession(t, start(t, kubecascade.Options{Storage: kubecascade.Storage{FromSnapshot: dir}}))
	s.must(200, "GET", configMaps+"/dependent", "") // the original
}

// TestFromSnapshotErrors: settings that exclude each other, and files that are no snapshots.
func TestFromSnapshotErrors(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no snapshot ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]kubecascade.Options{
		"requires Options.Storage.FromSnapshot": {Storage: kubecascade.Storage{Writable: true}},
		"are mutually exclusive": {Storage: kubecascade.Storage{FromSnapshot: text,
			Endpoints: []string{"http://127.0.0.1:1"}}},
		"with Options.Storage.Dir requires Options.Storage.Writable": {Storage: kubecascade.Storage{FromSnapshot: text,
			Dir: t.TempDir()}},
		"with Options.Storage.FromSnapshot requires Options.Storage.Writable: controllers write": {
			Storage: kubecascade.Storage{FromSnapshot: text}, Controllers: kubecascade.Controllers{Enabled: []string{"*"}}},
		"the file is no etcd snapshot": {Storage: kubecascade.Storage{FromSnapshot: text}},
	} {
		s, err := kubecascade.Start(t.Context(), o)
		if err == nil {
			err = errors.Join(errors.New("it has started"), s.Stop())
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestSaveSnapshot: a snapshot of a running server has all objects with their revisions, as the library and as a
// request save it, and a server begins with it.
func TestSaveSnapshot(t *testing.T) {
	server := start(t, kubecascade.Options{})
	s := newSession(t, server)
	for i := range 20 {
		s.must(201, "POST", configMaps, fmt.Sprintf(`{"metadata":{"name":"a%d"},"data":{"a":"%d"}}`, i, i))
	}
	if err := server.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := s.must(200, "GET", configMaps, "")
	dir := t.TempDir()
	byLibrary, byRequest := filepath.Join(dir, "library.db"), filepath.Join(dir, "request.db")
	if err := server.SaveSnapshot(t.Context(), byLibrary); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(byRequest, []byte(s.must(200, "POST", "/kubecascade/v1/snapshots", "")), 0o600); err != nil {
		t.Fatal(err)
	}
	s.must(201, "POST", configMaps, `{"metadata":{"name":"later"}}`)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("there are more files: %v, %v", entries, err)
	}
	for _, file := range []string{byLibrary, byRequest} {
		of := newSession(t, start(t, kubecascade.Options{Storage: kubecascade.Storage{FromSnapshot: file}}))
		if got := of.must(200, "GET", configMaps, ""); items(got) != items(list) {
			t.Errorf("%s has\n%s\nwant\n%s", file, got, list)
		}
		if report := of.must(200, "GET", "/kubecascade/v1/snapshot", ""); !strings.Contains(report, `"hash":"verified"`) {
			t.Error(report)
		}
	}
	if err := server.SaveSnapshot(t.Context(), filepath.Join(dir, "none", "a.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in no directory: %v", err)
	}
	if err := server.SaveSnapshot(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("in place of a directory: %v", err)
	}
}
