package resources

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func custom(group, version, plural, kind string) *Resource {
	return &Resource{
		Served: Served{Group: group, Version: version, Kind: kind},
		Plural: plural, CustomResource: CustomResource{Custom: true},
		Storage: Storage{
			Collection: group + "/" + plural,
			Stored:     schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind},
		},
		New: func() runtime.Object { return &unstructured.Unstructured{} }}
}

func TestAddedTypesAreFoundAndAnnounced(t *testing.T) {
	types := NewTable(Builtin()...)
	before := len(types.All())
	changed, generation := types.Changed(), types.Generation()
	v1, beta := custom("b.example.com", "v1", "crontabs", "CronTab"), custom(
		"b.example.com", "v1beta1", "crontabs", "CronTab")
	types.Add(beta, v1, custom("a.example.com", "v2", "things", "Thing"))

	select {
	case <-changed:
	default:
		t.Error("the channel is not closed")
	}
	if types.Generation() != generation+1 || len(types.All()) != before+3 {
		t.Errorf("generation %d after %d, %d entries after %d", types.Generation(), generation, len(types.All()), before)
	}
	var last []Group
	if g := types.Groups(); len(g) > 2 {
		last = g[len(g)-2:]
	}
	want := []Group{{Name: "a.example.com", Versions: []string{"v2"}, Preferred: "v2"},
		{Name: "b.example.com", Versions: []string{"v1", "v1beta1"}, Preferred: "v1"}}
	if d := cmp.Diff(want, last); d != "" {
		t.Errorf("groups (-want +got):\n%s", d)
	}
	if types.Collection("b.example.com/crontabs") != v1 || types.Kind(beta.GroupVersionKind()) != beta {
		t.Error("an entry isn't found by collection or kind")
	}

	changed = types.Changed()
	types.Add(v1)
	select {
	case <-changed:
		t.Error("adding an entry that is in the table counts as a change")
	default:
	}
	types.Replace([]*Resource{v1, beta}, []*Resource{custom("b.example.com", "v1", "crontabs", "CronTab")})
	if r := types.Lookup("b.example.com", "v1", "crontabs"); r == nil || r == v1 ||
		types.Lookup("b.example.com", "v1beta1", "crontabs") != nil {
		t.Error("not replaced")
	}
}

// TestCustomResourceNeverHidesBuiltIn: a CustomResourceDefinition can neither hide nor remove a built-in resource.
func TestCustomResourceNeverHidesBuiltIn(t *testing.T) {
	types := NewTable(Builtin()...)
	deployments := types.Lookup("apps", "v1", "deployments")
	impostor := custom("apps", "v1", "deployments", "Deployment")
	types.Add(impostor)
	types.Remove(impostor)
	if types.Lookup("apps", "v1", "deployments") != deployments {
		t.Error("deployments are gone")
	}
	definitions := types.Lookup("apiextensions.k8s.io", "v1", "customresourcedefinitions")
	types.Add(custom("apps", "v1", "a", "Deployment"),
		custom("apiextensions.k8s.io", "v9", "customresourcedefinitions", "CustomResourceDefinition"))
	if types.Kind(deployments.GroupVersionKind()) != deployments {
		t.Error("another resource has the collection of deployments")
	}
	if types.Collection("apiextensions.k8s.io/customresourcedefinitions") != definitions {
		t.Error("another resource has the collection of definitions")
	}
}

// TestReadersSeeWholeTables: readers never see a part of a change (run with -race).
func TestReadersSeeWholeTables(t *testing.T) {
	types := NewTable(Builtin()...)
	pair := []*Resource{custom("x.example.com", "v1", "as", "A"), custom("x.example.com", "v1", "bs", "B")}
	before := len(types.All())
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if n := len(types.All()); n != before && n != before+len(pair) {
					t.Errorf("%d entries", n)
					return
				}
			}
		})
	}
	for range 50 {
		types.Add(pair...)
		types.Remove(pair...)
	}
	close(done)
	wg.Wait()
}
