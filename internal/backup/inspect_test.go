package backup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.uber.org/zap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/storage/snapshot"
)

// written returns a snapshot with the values, written by etcd's own store.
func written(t testing.TB, values [][2]string) string {
	t.Helper()
	dir := t.TempDir()
	b := backend.NewDefaultBackend(zap.NewNop(), filepath.Join(dir, "db"))
	kv := mvcc.New(zap.NewNop(), b, &lease.FakeLessor{}, mvcc.StoreConfig{})
	for _, v := range values {
		kv.Put([]byte(v[0]), []byte(v[1]), lease.NoLease)
	}
	kv.Commit()
	var data bytes.Buffer
	s := b.Snapshot()
	_, err := s.WriteTo(&data)
	if err := errors.Join(err, s.Close(), kv.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data.Bytes())
	file := filepath.Join(dir, "backup.db")
	if err := os.WriteFile(file, append(data.Bytes(), sum[:]...), 0o400); err != nil {
		t.Fatal(err)
	}
	return file
}

// inProtobuf and inCBOR are values as kube-apiserver stores them.
func inProtobuf(t testing.TB, name string) string {
	var b bytes.Buffer
	o := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"a": "b"}}
	if err := protobuf.NewSerializer(resources.Scheme(), resources.Scheme()).Encode(o, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func inCBOR(t testing.TB, name string) string {
	data, err := direct.Marshal(map[string]any{"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": name, "namespace": "shop"}, "spec": map[string]any{"size": int64(3)}})
	if err != nil {
		t.Fatal(err)
	}
	return "\xd9\xd9\xf7" + strings.TrimPrefix(string(data), "\xd9\xd9\xf7")
}

const inJSON = `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"default"}}`

// TestReportHasEachValue: each value is in the report, readable or with the reason why it is not.
func TestReportHasEachValue(t *testing.T) {
	file := written(t, [][2]string{
		{"/registry/namespaces/default", `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default"}}`},
		{"/registry/configmaps/default/a", inProtobuf(t, "a")},
		{"/registry/configmaps/shop/b", strings.Replace(inProtobuf(t, "b"), "default", "shopshp", 1)},
		{"/registry/configmaps/shop/broken", inProtobuf(t, "broken")[:30]},
		{"/registry/secrets/default/s", inJSON},
		{"/registry/secrets/default/sealed", "k8s:enc:aescbc:v1:key1:0123456789"},
		{"/registry/secrets/default/other", "what?"},
		{"/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com",
			`{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",` +
				`"metadata":{"name":"widgets.example.com"}}`},
		{"/registry/example.com/widgets/shop/w", inCBOR(t, "w")},
		{"/registry/gone.example.com/things/shop/t",
			`{"kind":"Thing","apiVersion":"gone.example.com/v1","metadata":{"name":"t","namespace":"shop"}}`},
		{"/registry/ranges/serviceips", "k8s\x00range"},
		{"/registry/masterleases/10.0.0.1", "k8s\x00lease"},
		{"compact_rev_key", "5"},
	})
	r, err := Inspect(t.Context(), file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Keys != 13 || r.Objects != 10 || r.Internal != 2 || r.OutsidePrefix != 1 || r.Prefix != "/registry" ||
		r.Hash != "verified" || r.Revision != 14 || r.UnreadableObjects != 3 {
		t.Errorf("%+v", r)
	}
	why := map[string]string{}
	for _, o := range r.Unreadable {
		why[o.Key] = o.Why
	}
	for key, part := range map[string]string{
		"/registry/configmaps/shop/broken": "reading protobuf: ",
		"/registry/secrets/default/sealed": `encrypted by the provider "aescbc", key "key1"`,
		"/registry/secrets/default/other":  "no JSON object",
	} {
		if !strings.Contains(why[key], part) || strings.Contains(why[key], key) {
			t.Errorf("%s: %q, want %q", key, why[key], part)
		}
	}
	served := map[string]bool{}
	for _, res := range r.Resources {
		served[res.Name()] = res.Served
	}
	want := map[string]bool{"namespaces": true, "configmaps": true, "secrets": true, "widgets.example.com": true,
		"things.gone.example.com": false, "customresourcedefinitions.apiextensions.k8s.io": true}
	if diff := cmp.Diff(want, served); diff != "" {
		t.Errorf("served (-want +got):\n%s", diff)
	}
	text := r.Text()
	for _, line := range []string{
		"hash       verified\n", "prefix     /registry\n",
		"keys       13: 10 objects, 2 internal, 1 outside of the prefix\n",
		"widgets.example.com", "cbor", "\n3 objects can't be read:\n", "\n  things.gone.example.com: 1 object\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
}

// TestControlCharacters: what a backup contains can't control the terminal that the report is printed to, nor add
// lines.
func TestControlCharacters(t *testing.T) {
	const evil = "\x1b[2J\nhash\x07"
	file := written(t, [][2]string{
		{"/registry/namespaces/default", `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default"}}`},
		{"/registry/configmaps/" + evil + "/broken" + evil, "what?"},
		{"/registry/" + evil + ".example.com/things" + evil + "/shop/t",
			`{"kind":"Thing","apiVersion":"gone.example.com/v1","metadata":{"name":"t","namespace":"shop"}}`},
	})
	r, err := Inspect(t.Context(), file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Text()
	if strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && unicode.IsControl(c) }) ||
		strings.Count(text, "\nhash") != 1 || !strings.Contains(text, `broken\x1b[2J\nhash\a`) {
		t.Errorf("%q", text)
	}
}

// TestReportHasFindings: what lint finds is in the report, by the clock of the file; references to what can't be read
// are not decided.
func TestReportHasFindings(t *testing.T) {
	object := func(collection, kind, name, more string) [2]string {
		return [2]string{"/registry/" + collection + "/default/" + name,
			`{"kind":"` + kind + `","apiVersion":"` + map[bool]string{true: "example.com/v1", false: "v1"}[kind == "Widget"] +
				`","metadata":{"name":"` + name + `","namespace":"default","uid":"u-` + name + `"` + more + `}}`}
	}
	owner := func(version, kind, name string) string {
		return `,"ownerReferences":[{"apiVersion":"` + version + `","kind":"` + kind + `","name":"` + name +
			`","uid":"u-` + name + `"}]`
	}
	const deleted = `,"finalizers":["example.com/f"],"deletionTimestamp":"2026-01-02T03:04:05Z"`
	lease := [2]string{"/registry/leases/kube-node-lease/n", `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1",` +
		`"metadata":{"name":"n","namespace":"kube-node-lease"},"spec":{"renewTime":"2026-01-02T03:08:00.000000Z"}}`}
	values := [][2]string{
		{"/registry/namespaces/default", `{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"default"}}`},
		{"/registry/" + definitions + "/widgets.example.com", definition},
		object("example.com/widgets", "Widget", "w", ""),
		object("configmaps", "ConfigMap", "fine", owner("example.com/v1", "Widget", "w")),
		object("configmaps", "ConfigMap", "orphan", owner("example.com/v1", "Widget", "gone")),
		object("configmaps", "ConfigMap", "unserved", owner("other.example.com/v1", "Gadget", "g")),
		object("configmaps", "ConfigMap", "undecided", owner("v1", "Secret", "s")),
		{"/registry/secrets/default/s", "k8s:enc:aescbc:v1:key1:0123456789"},
		object("configmaps", "ConfigMap", "leaving", deleted),
		lease,
	}
	rules := func() string {
		r, err := Inspect(t.Context(), written(t, values), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, f := range r.Findings {
			all = append(all, string(f.Rule)+" "+f.Object.Name)
			if !strings.Contains(r.Text(), string(f.Rule)) {
				t.Errorf("%s is not in\n%s", f.Rule, r.Text())
			}
		}
		if r.Problems != len(all) {
			t.Errorf("%d problems, %v", r.Problems, all)
		}
		return strings.Join(all, ", ")
	}
	const want = "MissingOwner orphan, OwnerKindNotServed unserved, "
	if got := rules(); got != want+"UnknownFinalizer leaving" {
		t.Errorf("findings: %s", got)
	}
	lease[1] = strings.Replace(lease[1], "03:08", "04:08", 1)
	values[len(values)-1] = lease
	if got := rules(); got != want[:len(want)-2]+", StuckTerminating leaving, UnknownFinalizer leaving" {
		t.Errorf("an hour later: %s", got)
	}
}

const definition = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1",
"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]},
"status":{"conditions":[{"type":"Established","status":"True"}],
"acceptedNames":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},
"storedVersions":["v1"]}}`

// TestPrefixIsFound: the prefix is found, or checked if it is given.
func TestPrefixIsFound(t *testing.T) {
	file := written(t, [][2]string{
		{"/a/namespaces/default", "{}"}, {"/a/pods/default/x", "{}"}, {"/b/namespaces/default", "{}"},
	})
	for given, want := range map[string]string{"": "/a", "/b": "/b", "b/": "/b"} {
		if r, err := Inspect(t.Context(), file, Options{Prefix: given}); err != nil || r.Prefix != want {
			t.Errorf("%q: %+v, %v", given, r, err)
		}
	}
	for _, given := range []string{"/c", "/a/namespaces/default"} {
		if _, err := Inspect(t.Context(), file, Options{Prefix: given}); !errors.Is(err, ErrNoCluster) {
			t.Errorf("%q: %v", given, err)
		}
	}
	if _, err := Inspect(t.Context(), written(t, [][2]string{{"foo", "bar"}}), Options{}); !errors.Is(err, ErrNoCluster) {
		t.Errorf("a database of something else: %v", err)
	}
}

// FuzzValue: whatever bytes are stored under a key, the value is readable or has a reason.
func FuzzValue(f *testing.F) {
	for _, collection := range []string{"configmaps", "secrets", "pods", "example.com/widgets"} {
		for _, value := range []string{
			inProtobuf(f, "a"), inCBOR(f, "a"), inJSON, "k8s:enc:aesgcm:v1:k:x", "k8s\x00", "", "{",
		} {
			f.Add(collection, []byte(value))
		}
	}
	f.Fuzz(func(t *testing.T, collection string, value []byte) {
		in := newInspection(newReport(&snapshot.Info{}), nil, nil)
		in.report.Prefix, in.decoder.Root = "/registry", "/registry"
		key := "/registry/" + collection + "/default/a"
		o, why := in.decode(collection, snapshot.Record{Key: key, Value: value, Revision: 5})
		if o == nil || o.Err != nil && why == "" {
			t.Errorf("%q is neither readable nor unreadable", value)
		}
		in.add(snapshot.Record{Key: key, Value: value, Revision: 5})
		if in.report.Keys != 1 || in.report.Objects+in.report.Internal != 1 {
			t.Errorf("it is not counted: %+v", in.report)
		}
	})
}
