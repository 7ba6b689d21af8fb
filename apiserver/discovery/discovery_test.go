package discovery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubecascade/kubecascade/apiserver/resources"
)

const address = "192.0.2.1:6443"

// get sends a GET to the service.
func get(s *Service, path string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Header = header
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func accept(v string) http.Header { return http.Header{"Accept": {v}} }

const acceptAggregated = "application/json" + aggregatedParameters

func crontab(version string) *resources.Resource {
	own := schema.GroupVersionKind{Group: "stable.example.com", Version: "v1", Kind: "CronTab"}
	return &resources.Resource{
		Served: resources.Served{
			Group: own.Group, Version: version, Singular: "crontab", Kind: own.Kind,
			Verbs: []string{"delete", "get"},
		},
		Plural:         "crontabs",
		CustomResource: resources.CustomResource{Custom: true},
		Namespaced:     true, ShortNames: []string{"ct"},
		Storage:      resources.Storage{Collection: "stable.example.com/crontabs", Stored: own},
		Subresources: []resources.Subresource{{Name: "status", Verbs: []string{"get"}}}}
}

// TestDocumentsFollowTypes runs the scenarios in testdata. Commands:
//
//	get PATH [query=V] [accept=V] [agent=V] [match=V]   a request; a tag is printed as TAG, match=TAG sends the last
//	add VERSION, remove VERSION                         a custom resource comes and goes
//
// The table holds pods, bindings and deployments.
func TestDocumentsFollowTypes(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		builtin := resources.NewTable(resources.Builtin()...)
		types := resources.NewTable(
			builtin.Lookup("", "v1", "pods"), builtin.Lookup("", "v1", "bindings"), builtin.Lookup("apps", "v1", "deployments"),
		)
		s := New(types, address)
		tag := ""
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "add":
				types.Add(crontab(d.CmdArgs[0].Key))
				return ""
			case "remove":
				types.Remove(crontab(d.CmdArgs[0].Key))
				return ""
			case "get":
				return story(s, d, &tag)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func story(s *Service, d *datadriven.TestData, tag *string) string {
	header, path := http.Header{}, d.CmdArgs[0].Key
	for _, a := range d.CmdArgs[1:] {
		switch a.Key {
		case "query":
			path += "?" + a.Vals[0]
		case "accept":
			header.Set("Accept", strings.Join(a.Vals, ","))
		case "agent":
			header.Set("User-Agent", a.Vals[0])
		case "match":
			header.Set("If-None-Match", strings.ReplaceAll(a.Vals[0], "TAG", *tag))
		}
	}
	w := get(s, path, header)
	var b strings.Builder
	fmt.Fprintln(&b, w.Code)
	for _, name := range []string{"Content-Type", "ETag", "Vary", "Cache-Control"} {
		if v := w.Header().Get(name); v != "" {
			if name == "ETag" {
				was := *tag
				if *tag = v; v != was {
					v = "TAG, a new one"
				} else {
					v = "TAG"
				}
			}
			fmt.Fprintf(&b, "%s: %s\n", name, v)
		}
	}
	b.Write(w.Body.Bytes())
	return b.String()
}

// recorded reads a response of a real server.
func recorded(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "conformance", "recorded", "data", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func decode[T any](t *testing.T, w *httptest.ResponseRecorder) T {
	t.Helper()
	var v T
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	d := json.NewDecoder(w.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// restored has the storage version hashes of kinds that v1.37 stores as v1 (V-008).
var restored = map[string]string{
	"mutatingadmissionpolicies":       "mHCkTKpUTrE=",
	"mutatingadmissionpolicybindings": "ZKgZT1uTmZ0=",
}

// newIn137 are the kinds that v1.37 adds to those of v1.36, by their stored version.
var newIn137 = map[string]string{
	"clustertrustbundles": "v1beta1", "devicetaintrules": "v1beta2", "podcertificaterequests": "v1beta1",
	"storageversionmigrations": "v1beta1",
}

// of136 returns the entries of the resources that v1.36 serves.
func of136() []*resources.Resource {
	return slices.DeleteFunc(resources.Builtin(), func(r *resources.Resource) bool { return newIn137[r.Plural] != "" })
}

// TestKindsOf137AreDiscovered: the kinds of v1.37 are in the documents of their groups, with all verbs, no short names
// and the status subresources (V-097). A server of v1.36 can read what is stored.
func TestKindsOf137AreDiscovered(t *testing.T) {
	s := New(resources.NewTable(resources.Builtin()...), address)
	all := metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	modify := metav1.Verbs{"get", "patch", "update"}
	got := map[string]metav1.APIResource{}
	for _, gv := range []string{"certificates.k8s.io/v1", "resource.k8s.io/v1", "storagemigration.k8s.io/v1"} {
		for _, r := range decode[metav1.APIResourceList](t, get(s, "/apis/"+gv, nil)).APIResources {
			if plural, _, _ := strings.Cut(r.Name, "/"); newIn137[plural] != "" {
				got[gv+"/"+r.Name] = r
			}
		}
	}
	want := map[string]metav1.APIResource{}
	for _, k := range []struct {
		gv, singular, kind string
		namespaced, status bool
	}{
		{"certificates.k8s.io/v1", "clustertrustbundle", "ClusterTrustBundle", false, false},
		{"certificates.k8s.io/v1", "podcertificaterequest", "PodCertificateRequest", true, true},
		{"resource.k8s.io/v1", "devicetaintrule", "DeviceTaintRule", false, true},
		{"storagemigration.k8s.io/v1", "storageversionmigration", "StorageVersionMigration", false, true},
	} {
		group, _, _ := strings.Cut(k.gv, "/")
		plural := k.singular + "s"
		want[k.gv+"/"+plural] = metav1.APIResource{
			Name: plural, SingularName: k.singular, Namespaced: k.namespaced, Kind: k.kind, Verbs: all,
			StorageVersionHash: storageVersionHash(schema.GroupVersionKind{
				Group: group, Version: newIn137[plural], Kind: k.kind,
			}),
		}
		if k.status {
			want[k.gv+"/"+plural+"/status"] = metav1.APIResource{
				Name: plural + "/status", Namespaced: k.namespaced, Kind: k.kind, Verbs: modify,
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	group := decode[metav1.APIGroup](t, get(s, "/apis/storagemigration.k8s.io", nil))
	if len(group.Versions) != 1 || group.PreferredVersion.Version != "v1" {
		t.Errorf("storagemigration.k8s.io: %+v", group)
	}
}

// TestDocumentsEqualRecordedOnes compares every plain document with a real server's, storage version hashes included.
// The server was v1.36.
func TestDocumentsEqualRecordedOnes(t *testing.T) {
	var want struct {
		Groups    []metav1.APIGroup
		Resources map[string][]metav1.APIResource
	}
	recorded(t, "discovery.json", &want)
	s := New(resources.NewTable(of136()...), address)

	list := decode[metav1.APIGroupList](t, get(s, "/apis", nil))
	if d := cmp.Diff(want.Groups, list.Groups); d != "" {
		t.Errorf("/apis without newIn137 (-recorded +ours):\n%s", d)
	}
	for _, g := range want.Groups {
		group := decode[metav1.APIGroup](t, get(s, "/apis/"+g.Name, nil))
		g.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
		if d := cmp.Diff(g, group); d != "" {
			t.Errorf("/apis/%s (-recorded +ours):\n%s", g.Name, d)
		}
	}
	for gv, rs := range want.Resources {
		path := "/apis/" + gv
		if gv == "v1" {
			path = "/api/v1"
		}
		for i := range rs {
			if hash, ok := restored[rs[i].Name]; ok {
				rs[i].StorageVersionHash = hash
			}
		}
		if d := cmp.Diff(rs, decode[metav1.APIResourceList](t, get(s, path, nil)).APIResources); d != "" {
			t.Errorf("%s (-recorded +ours):\n%s", path, d)
		}
	}
}

func TestRecordedAggregated(t *testing.T) {
	var want map[string]apidiscoveryv2.APIGroupDiscoveryList
	recorded(t, "discovery-aggregated.json", &want)
	s := New(resources.NewTable(of136()...), address)
	for path, list := range want {
		got := decode[apidiscoveryv2.APIGroupDiscoveryList](t, get(s, path, accept(acceptAggregated)))
		if d := cmp.Diff(list, got); d != "" {
			t.Errorf("%s (-recorded +ours):\n%s", path, d)
		}
	}
}

// TestProtobufEqualsJSON reads every document back from every format.
func TestProtobufEqualsJSON(t *testing.T) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	if err := apidiscoveryv2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	proto := protobuf.NewSerializer(scheme, scheme)
	s := New(resources.NewTable(resources.Builtin()...), address)
	for _, c := range []struct {
		path, parameters string
		into             runtime.Object
	}{
		{"/apis", "", &metav1.APIGroupList{}},
		{"/apis/apps", "", &metav1.APIGroup{}},
		{"/apis/apps/v1", "", &metav1.APIResourceList{}},
		{"/apis", aggregatedParameters, &apidiscoveryv2.APIGroupDiscoveryList{}},
		{"/api", aggregatedParameters, &apidiscoveryv2.APIGroupDiscoveryList{}},
	} {
		want := c.into.DeepCopyObject()
		if err := json.Unmarshal(get(s, c.path, accept("application/json"+c.parameters)).Body.Bytes(), want); err != nil {
			t.Fatal(err)
		}
		w := get(s, c.path, accept("application/vnd.kubernetes.protobuf"+c.parameters))
		if got := w.Header().Get("Content-Type"); got != "application/vnd.kubernetes.protobuf"+c.parameters {
			t.Errorf("%s: Content-Type %s", c.path, got)
		}
		got, _, err := proto.Decode(w.Body.Bytes(), nil, c.into)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		got.GetObjectKind().SetGroupVersionKind(want.GetObjectKind().GroupVersionKind())
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s%s (-json +protobuf):\n%s", c.path, c.parameters, d)
		}
	}
}

// TestAddedTypesAreDiscoveredAtOnce: a type that was added before a request is in its response, independent of
// concurrent requests (run with -race).
func TestAddedTypesAreDiscoveredAtOnce(t *testing.T) {
	types := resources.NewTable(resources.Builtin()...)
	s := New(types, address)
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				get(s, "/apis", accept(acceptAggregated))
			}
		})
	}
	for i := range 30 {
		types.Add(crontab("v1"))
		if !bytes.Contains(get(s, "/apis", accept(acceptAggregated)).Body.Bytes(), []byte("crontabs")) {
			t.Fatalf("round %d: added but not shown", i)
		}
		types.Remove(crontab("v1"))
		if s.Handler("/apis/stable.example.com") != nil {
			t.Fatalf("round %d: removed but shown", i)
		}
	}
	close(done)
	wg.Wait()
}
