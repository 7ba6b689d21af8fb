package resources

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubecascade/kubecascade/storage"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/discovery.txt")

// lines prints the table in the order of discovery, one line for each path.
func lines(all []*Resource) string {
	var b strings.Builder
	last := ""
	for _, r := range all {
		if gv := r.GroupVersion().String(); gv != last {
			fmt.Fprintf(&b, "# %s\n", gv)
			last = gv
		}
		in := r.WrittenKind()
		fmt.Fprintf(&b, "%s %s %s %s [%s] short=%v categories=%v stored=%s/%s/%s in %q\n", r.Plural, r.Singular, r.Kind,
			scope(r), strings.Join(r.Verbs, " "), r.ShortNames, r.Categories, in.Group, in.Version, in.Kind, r.Collection)
		for _, s := range r.Subresources {
			fmt.Fprintf(&b, "%s/%s %s [%s] action=%d\n", r.Plural, s.Name, subKind(r, &s), strings.Join(s.Verbs, " "), s.Action)
		}
	}
	return b.String()
}

func scope(r *Resource) string {
	if r.Namespaced {
		return "Namespaced"
	}
	return "Cluster"
}

func subKind(r *Resource, s *Subresource) string {
	if s.Kind.Empty() {
		return r.Kind
	}
	if s.Kind.GroupVersion() == r.GroupVersion() {
		return s.Kind.Kind
	}
	return s.Kind.GroupVersion().String() + "/" + s.Kind.Kind
}

// TestTableEqualsItsList compares the table with testdata, so that every change of the table is visible.
func TestTableEqualsItsList(t *testing.T) {
	file := filepath.Join("testdata", "discovery.txt")
	got := lines(NewTable(Builtin()...).All())
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("the table differs from %s (-want +got):\n%s", file, d)
	}
}

// recorded reads a recorded response of a real server.
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

// newIn137 has the resources that v1.37 serves and v1.36 does not (V-002 to V-005).
var newIn137 = map[string]bool{
	"clustertrustbundles": true, "devicetaintrules": true, "podcertificaterequests": true,
	"storageversionmigrations": true,
}

// of136 returns the entries of the resources that v1.36 serves.
func of136() []*Resource {
	return slices.DeleteFunc(Builtin(), func(r *Resource) bool { return newIn137[r.Plural] })
}

// TestTableEqualsRecordedDiscovery compares the table with a real server's discovery. The server was v1.36.
// testdata/discovery.txt has the newer kinds.
func TestTableEqualsRecordedDiscovery(t *testing.T) {
	var want struct {
		Groups    []metav1.APIGroup
		Resources map[string][]metav1.APIResource
	}
	recorded(t, "discovery.json", &want)
	types := NewTable(of136()...)

	got := map[string][]metav1.APIResource{}
	for _, r := range types.All() {
		gv := r.GroupVersion().String()
		got[gv] = append(got[gv], metav1.APIResource{Name: r.Plural, SingularName: r.Singular, Namespaced: r.Namespaced,
			Kind:  r.Kind,
			Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories})
		for _, s := range r.Subresources {
			a := metav1.APIResource{Name: r.Plural + "/" + s.Name, Namespaced: r.Namespaced, Kind: r.Kind, Verbs: s.Verbs}
			if !s.Kind.Empty() {
				a.Kind = s.Kind.Kind
				if s.Kind.GroupVersion() != r.GroupVersion() {
					a.Group, a.Version = s.Kind.Group, s.Kind.Version
				}
			}
			got[gv] = append(got[gv], a)
		}
	}
	for _, list := range want.Resources {
		for i := range list {
			list[i].StorageVersionHash = "" // apiserver/discovery computes and checks it
		}
	}
	for gv := range got {
		slices.SortFunc(got[gv], func(a, b metav1.APIResource) int { return strings.Compare(a.Name, b.Name) })
	}
	if d := cmp.Diff(want.Resources, got); d != "" {
		t.Errorf("resources without newIn137 (-recorded +ours):\n%s", d)
	}

	var groups []metav1.APIGroup
	if core := types.Groups()[0]; core.Name != "" || core.Preferred != "v1" {
		t.Errorf("the first group is %+v", core)
	}
	for _, g := range types.Groups()[1:] {
		a := metav1.APIGroup{
			Name:             g.Name,
			PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + g.Preferred, Version: g.Preferred},
		}
		for _, v := range g.Versions {
			a.Versions = append(a.Versions, metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + v, Version: v})
		}
		groups = append(groups, a)
	}
	if d := cmp.Diff(want.Groups, groups); d != "" {
		t.Errorf("groups without newIn137 (-recorded +ours):\n%s", d)
	}
}

// TestPrioritiesEqualRecordedOnes compares priorities with those of a real server's APIServices.
func TestPrioritiesEqualRecordedOnes(t *testing.T) {
	var want struct {
		APIServices []struct {
			Spec struct {
				Group, Version       string
				GroupPriorityMinimum int32
				VersionPriority      int32
			}
		}
	}
	recorded(t, "bootstrap.json", &want)
	if len(want.APIServices) == 0 {
		t.Fatal("no APIServices recorded")
	}
	for _, s := range want.APIServices {
		gv := schema.GroupVersion{Group: s.Spec.Group, Version: s.Spec.Version}
		if g, v := Priority(gv); g != s.Spec.GroupPriorityMinimum || v != s.Spec.VersionPriority {
			t.Errorf("Priority(%s) = %d, %d; recorded %d, %d", gv, g, v, s.Spec.GroupPriorityMinimum, s.Spec.VersionPriority)
		}
	}
}

func TestKeysAreUnique(t *testing.T) {
	paths := map[schema.GroupVersionResource]bool{}
	stored := map[string]schema.GroupVersionKind{}
	for _, r := range Builtin() {
		if paths[pathOf(r)] {
			t.Errorf("%v is in the table twice", pathOf(r))
		}
		paths[pathOf(r)] = true
		if (r.Collection == "") != r.Virtual || (r.Collection == "") != r.Stored.Empty() {
			t.Errorf("%v: collection %q, virtual %v, stored %v", pathOf(r), r.Collection, r.Virtual, r.Stored)
		}
		if r.Collection == "" {
			continue
		}
		if other, ok := stored[r.Collection]; ok && other != r.Stored {
			t.Errorf("%s is stored as %v and as %v", r.Collection, other, r.Stored)
		}
		stored[r.Collection] = r.Stored
		same := r.Stored == r.GroupVersionKind() && !strings.HasPrefix(r.Plural, "mutatingadmission") // V-008
		if same != (r.ToStored == nil) || (r.ToStored == nil) != (r.FromStored == nil) {
			t.Errorf("%v is stored as %v, which its conversions contradict", pathOf(r), r.Stored)
		}
	}
}

// TestKeysLeadToTheirCollection: each etcd key leads to the collection of its resource, in every table.
func TestKeysLeadToTheirCollection(t *testing.T) {
	types := NewTable(Builtin()...)
	for _, r := range types.All() {
		if r.Collection == "" {
			continue
		}
		key, rest := "/registry/"+r.Collection+"/x", "x"
		if r.Namespaced {
			key, rest = "/registry/"+r.Collection+"/ns/x", "ns/x"
		}
		collection, gotRest, ok := storage.Collection("/registry", key)
		if !ok || collection != r.Collection || gotRest != rest {
			t.Errorf("Collection(%s) = %q, %q, %v; want %q, %q", key, collection, gotRest, ok, r.Collection, rest)
		}
		e := types.Collection(r.Collection)
		if e == nil || e.Stored != r.Stored {
			t.Errorf("Types.Collection(%q) = %+v", r.Collection, e)
		}
		if served := types.Kind(r.Stored); served != nil && e != served {
			t.Errorf("Types.Collection(%q) is %v, not the stored version %v", r.Collection, pathOf(e), r.Stored)
		}
		if len(e.Fields) < len(r.Fields) || !cmp.Equal(e.Fields[:len(r.Fields)], r.Fields) {
			t.Errorf("%v reads other fields than %v of the same collection", pathOf(r), pathOf(e))
		}
	}
}

// TestEveryKindIsEncodedAndDecoded: objects of every kind can be created, and encoded and decoded in every media type.
// The kind is in the scheme.
func TestEveryKindIsEncodedAndDecoded(t *testing.T) {
	proto := protobuf.NewSerializer(Scheme(), Scheme())
	for _, r := range Builtin() {
		gvk := r.GroupVersionKind()
		obj := r.New()
		if got := obj.GetObjectKind().GroupVersionKind(); got != gvk {
			t.Errorf("%v: New is a %v", pathOf(r), got)
		}
		if kinds, _, err := Scheme().ObjectKinds(obj); err != nil || !slices.Contains(kinds, gvk) {
			t.Errorf("%v: the kinds in the scheme are %v, %v", pathOf(r), kinds, err)
		}
		if r.Has("list") && !Scheme().Recognizes(gvk.GroupVersion().WithKind(gvk.Kind+"List")) {
			t.Errorf("%v: the scheme does not have the list", pathOf(r))
		}
		if !r.Stored.Empty() && !Scheme().Recognizes(r.Stored) {
			t.Errorf("%v: the scheme does not have %v", pathOf(r), r.Stored)
		}
		data, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		back := r.New()
		if err := json.Unmarshal(data, back); err != nil || !apiequality.Semantic.DeepEqual(obj, back) {
			t.Errorf("%v: JSON round trip: %v\n%s", pathOf(r), err, cmp.Diff(obj, back))
		}
		binary, err := runtime.Encode(proto, obj)
		if err != nil {
			t.Errorf("%v: protobuf: %v", pathOf(r), err)
			continue
		}
		if back, err := runtime.Decode(proto, binary); err != nil || back.GetObjectKind().GroupVersionKind() != gvk {
			t.Errorf("%v: protobuf round trip: %v, %v", pathOf(r), back, err)
		}
		for _, s := range r.Subresources {
			if !s.Kind.Empty() && !Scheme().Recognizes(s.Kind) {
				t.Errorf("%v/%s: the scheme does not have %v", pathOf(r), s.Name, s.Kind)
			}
		}
	}
}
