package backups

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/rest"

	"github.com/kubecascade/kubecascade"
	"github.com/kubecascade/kubecascade/kubecascadetest"
	"github.com/kubecascade/kubecascade/storage/snapshot"
)

// namespaces returns the namespaces that every cluster has.
func namespaces() []value {
	var all []value
	for _, name := range []string{"default", "kube-system"} {
		all = append(all, value{"/registry/namespaces/" + name,
			fmt.Appendf(nil, `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":%q}}`, name)})
	}
	return all
}

// converted are versions whose fields differ from those of the served version. apiserver/resources tests their
// conversions; here only their metadata is compared.
var converted = []string{
	"apiextensions.k8s.io/v1beta1 CustomResourceDefinition",
	"certificates.k8s.io/v1beta1 PodCertificateRequest", // v1 lacks its key and proof (V-003)
}

// TestStoredVersionsAreRead: the server reads objects as upstream does, in all versions that Kubernetes v1.30 or later
// has stored, in all encodings, and encrypted by any provider of kube-apiserver. Other objects are in the report, with
// the reason.
func TestStoredVersionsAreRead(t *testing.T) {
	objects := stored(t)
	for _, c := range []struct{ name, config string }{
		{"plain", ""},
		{"aescbc", "[{resources: ['*.*'], providers: [{aescbc: {keys: [" + key("two", 16) + "," + key("one", 32) + "]}}]}]"},
		{"aesgcm", "[{resources: ['*.*'], providers: [{aesgcm: {keys: [" + key("one", 24) + "]}}, {identity: {}}]}]"},
		{"secretbox", "[{resources: ['*.*'], providers: [{secretbox: {keys: [" + key("one", 32) + "]}}]}]"},
		{"mixed", "[{resources: [secrets, '*.apps', events], providers: [{aescbc: {keys: [" + key("one", 16) + "]}}]}," +
			"{resources: ['*.'], providers: [{secretbox: {keys: [" + key("one", 32) + "]}}]}," +
			"{resources: [leases.coordination.k8s.io], providers: [{identity: {}}]}," +
			"{resources: ['*.*'], providers: [{aesgcm: {keys: [" + key("one", 16) + "]}}]}]"},
	} {
		t.Run(c.name, func(t *testing.T) { checkStored(t, objects, c.config) })
	}
}

func checkStored(t *testing.T, objects []*object, config string) {
	e := newEncryption(t, config)
	values := namespaces()
	for _, o := range objects {
		values = append(values, value{o.key, e.encrypt(o.gr(), o.key, o.value.value)})
	}
	for i := range values[:2] {
		values[i].value = e.encrypt(schema.GroupResource{Resource: "namespaces"}, values[i].key, values[i].value)
	}
	member := startEtcd(t, values)
	s := serve(t, kubecascade.Storage{FromSnapshot: member.save(), EncryptionProviderConfig: e.file})
	_, report := s.get("/kubecascade/v1/snapshot")
	unreadable := map[string]bool{}
	for _, o := range objects {
		kind := o.gvk.GroupVersion().String() + " " + o.gvk.Kind
		version, want := o.gvk.Version, maps.Clone(o.want)
		code, got := s.get(pathOf(o, version))
		if code == http.StatusNotFound || o.gvk.Group != o.resource.Group {
			code, got = s.get(pathOf(o, o.resource.Version))
			delete(want, "apiVersion")
			if slices.Contains(converted, kind) {
				delete(want, "spec")
				delete(want, "status")
				delete(want, "subjects")
			}
		}
		if isUnread(o.gvk) {
			unreadable[o.key] = true
			if message := fmt.Sprint(got["message"]); code != http.StatusInternalServerError ||
				!strings.Contains(message, "Kubernetes v1.30") {
				t.Errorf("%s in %s: %d %s", kind, o.encoding, code, message)
			}
		} else if code != http.StatusOK {
			t.Errorf("%s in %s: %d %v", kind, o.encoding, code, got["message"])
		} else if d := lacks("", want, got); d != "" {
			t.Errorf("%s in %s%s", kind, o.encoding, d)
		}
	}
	for _, u := range report["unreadable"].([]any) {
		u := u.(map[string]any)
		if why := u["why"].(string); !unreadable[u["key"].(string)] || !strings.Contains(why, "Kubernetes v1.30") {
			t.Errorf("%s: %s", u["key"], why)
		}
	}
	if n := report["unreadableObjects"]; n != float64(len(unreadable)) {
		t.Errorf("%v objects are unreadable in the report, %d in responses", n, len(unreadable))
	}
}

// TestUnservedKindsAreReported: objects of kinds that are not served are in the report, whether or not k8s.io/api still
// has the kind.
func TestUnservedKindsAreReported(t *testing.T) {
	psp := &runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "policy/v1beta1", Kind: "PodSecurityPolicy"},
		Raw: []byte{}}
	var b bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(psp, &b); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"podsecuritypolicy": true}
	values := append(namespaces(), value{"/registry/podsecuritypolicy/restricted", b.Bytes()})
	for _, gvk := range unserved() {
		b.Reset()
		if err := protobuf.NewSerializer(scheme, scheme).Encode(filled(t, gvk), &b); err != nil {
			t.Fatal(err)
		}
		plural := strings.ToLower(gvk.Kind) + "s"
		want[plural] = true
		values = append(values, value{"/registry/" + plural + "/default/" + gvk.Version, bytes.Clone(b.Bytes())})
	}
	s := serve(t, kubecascade.Storage{FromSnapshot: startEtcd(t, values).save()})
	_, report := s.get("/kubecascade/v1/snapshot")
	objects := 0
	for _, r := range report["resources"].([]any) {
		r := r.(map[string]any)
		name := r["resource"].(string)
		if served := r["served"].(bool); served == want[name] {
			t.Errorf("%s is served: %v", name, served)
		}
		objects += int(r["objects"].(float64))
		delete(want, name)
	}
	if len(want) > 0 || objects != len(values) {
		t.Errorf("%d of %d objects are in the report, and %v are not", objects, len(values), want)
	}
}

// TestDataDirectory: the database of a stopped etcd is served like its snapshot, and does not change. The database of a
// running etcd is not read.
func TestDataDirectory(t *testing.T) {
	const list = "/api/v1/configmaps"
	values := namespaces()
	for i := range 500 {
		name := fmt.Sprint("a", i)
		values = append(values, value{"/registry/configmaps/default/" + name, fmt.Appendf(nil,
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":%q,"namespace":"default"}}`, name)})
	}
	member := startEtcd(t, values)
	_, want := serve(t, kubecascade.Storage{FromSnapshot: member.save()}).get(list)
	if items := want["items"].([]any); len(items) != 500 {
		t.Errorf("the snapshot has %d objects", len(items))
	}
	s, err := kubecascade.Start(t.Context(), kubecascade.Options{Storage: kubecascade.Storage{FromSnapshot: member.dir}})
	if err == nil {
		err = errors.Join(errors.New("it has started"), s.Stop())
	}
	if !errors.Is(err, snapshot.ErrInUse) || !strings.Contains(err.Error(), "etcdctl snapshot save") {
		t.Errorf("of a running etcd: %v", err)
	}
	member.stop()
	before := files(t, member.dir)
	for _, path := range []string{member.dir, filepath.Join(member.dir, "member", "snap", "db")} {
		of := serve(t, kubecascade.Storage{FromSnapshot: path})
		if _, got := of.get(list); !reflect.DeepEqual(got, want) {
			t.Errorf("%s has another list", path)
		}
		if _, report := of.get("/kubecascade/v1/snapshot"); report["hash"] != "none" || report["objects"] != 502. {
			t.Errorf("%s: %v", path, report)
		}
	}
	if !slices.Equal(files(t, member.dir), before) {
		t.Error("files of the data directory have changed")
	}
}

// gr returns the resource by which kube-apiserver chooses the provider.
func (o *object) gr() schema.GroupResource {
	if o.resource.Kind == "Event" {
		return schema.GroupResource{Resource: "events"}
	}
	return schema.GroupResource{Group: o.resource.Group, Resource: o.resource.Plural}
}

// pathOf returns the path of an object in a version.
func pathOf(o *object, version string) string {
	p := "/api/" + version
	if o.resource.Group != "" {
		p = path.Join("/apis", o.resource.Group, version)
	}
	if o.resource.Namespaced {
		p += "/namespaces/default"
	}
	return path.Join(p, o.resource.Plural, o.name)
}

// lacks returns the path of the first member of want that got does not have, or an empty string.
func lacks(at string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s: %v, want %v", at, got, want)
		}
		for k, v := range w {
			if d := lacks(at+"."+k, v, g[k]); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: %v, want %v", at, got, want)
		}
		for i, v := range w {
			if d := lacks(fmt.Sprint(at, "[", i, "]"), v, g[i]); d != "" {
				return d
			}
		}
		return ""
	}
	if want != nil && want != got {
		return fmt.Sprintf("%s: %v, want %v", at, got, want)
	}
	return ""
}

// served is a server with a client.
type served struct {
	t      *testing.T
	server *kubecascade.Server
	client *http.Client
}

func serve(t *testing.T, s kubecascade.Storage) *served {
	t.Helper()
	server := kubecascadetest.New(t, func(o *kubecascade.Options) {
		o.Storage, o.API.RuntimeConfig = s, []string{"api/all=true"}
	})
	c := server.Config()
	c.QPS = -1
	client, err := rest.HTTPClientFor(c)
	if err != nil {
		t.Fatal(err)
	}
	return &served{t, server, client}
}

func (s *served) get(path string) (code int, members map[string]any) {
	s.t.Helper()
	res, err := s.client.Get(s.server.URL() + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&members); err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
	return res.StatusCode, members
}
