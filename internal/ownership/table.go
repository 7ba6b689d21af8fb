package ownership

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/internal/cluster"
)

// table is what the server serves, in the form that the commands have from discovery.
type table struct {
	generation uint64
	*cluster.Discovery
	// rows are the resources that can be listed, in the order of discovery.
	rows []*row
	// names and collections have those whose objects are stored, by Name and by collection.
	names, collections map[string]*row
}

// row is a resource with its entry, which is of the preferred version.
type row struct {
	*cluster.Resource
	entry *resources.Resource
	// node and phase are the indices of a Pod's selectable fields; -1 for other kinds.
	node, phase int
}

// newTable makes the table of the present types. A table is made again when they have changed.
func newTable(types *resources.Types) *table {
	t := &table{
		generation: types.Generation(), Discovery: cluster.NewDiscovery(), names: map[string]*row{},
		collections: map[string]*row{},
	}
	for _, r := range types.All() {
		t.Add(r.Group, r.Version, metav1.APIResource{
			Name: r.Plural, SingularName: r.Singular, Kind: r.Kind, Verbs: r.Verbs, Namespaced: r.Namespaced,
			ShortNames: r.ShortNames,
		})
	}
	t.Share()
	for _, r := range t.Resources {
		entry := types.Lookup(r.Group, r.Versions[0], r.Plural)
		if !r.Listed || entry == nil {
			continue
		}
		one := &row{Resource: r, entry: entry, node: -1, phase: -1}
		for i, f := range types.SelectableFields(entry.Collection) {
			switch {
			case !r.Delete.Graceful || len(f.Paths) == 0:
			case f.Paths[0] == "spec.nodeName":
				one.node = i
			case f.Paths[0] == "status.phase":
				one.phase = i
			}
		}
		t.rows = append(t.rows, one)
		if entry.Collection != "" { // else its objects are not stored, and own nothing
			t.names[r.Name()], t.collections[entry.Collection] = one, one
		}
	}
	return t
}
