package backup

import (
	"bytes"
	"strings"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/storage"
)

// MostFindings is the maximum number of findings in a report.
const MostFindings = 200

// problems collects the input of lint.
type problems struct {
	found   explain.Cluster
	builtin map[string]*cluster.Resource // by collection
	unread  map[string]string            // why objects of a resource can't be read, by its name
	// served are the built-in types and those that the file defines.
	served *resources.Types
	// newest is the latest time in the file: of the renewal of a lease, or of the beginning of a deletion.
	newest time.Time
}

func newProblems() *problems {
	builtin := resources.NewTable(resources.Builtin()...)
	p := &problems{builtin: map[string]*cluster.Resource{}, unread: map[string]string{}, served: builtin}
	for _, r := range cluster.Served(builtin).Resources {
		p.builtin[r.Stored] = r
	}
	return p
}

// add adds an object, or the reason why it can't be read.
func (p *problems) add(collection string, o *storage.Object, why string) {
	r := p.builtin[collection]
	if r == nil { // a custom resource
		group, plural, _ := strings.Cut(collection, "/")
		r = &cluster.Resource{Resource: explain.Resource{Group: group, Plural: plural, Versions: []string{""}}}
	}
	if why != "" {
		p.unread[r.Name()] = why
		return
	}
	one := cluster.Stored(r, o)
	p.found.Objects = append(p.found.Objects, one)
	if begun := one.Begun(); begun.After(p.newest) {
		p.newest = begun
	}
	switch collection {
	case definitions:
		p.define(o)
	case "leases":
		if t := renewed(o.JSON); t.After(p.newest) {
			p.newest = t
		}
	}
}

// define adds the types of a CustomResourceDefinition.
func (p *problems) define(o *storage.Object) {
	obj, err := codec.DecodeReadable(p.served.Lookup(apiextensionsv1.GroupName, "v1", "customresourcedefinitions"), o)
	if err != nil {
		return // the report has the reason
	}
	kind := p.served.Collection(definitions)
	if kind.FromStored != nil {
		obj, err = kind.FromStored(obj)
	}
	if d, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok && err == nil &&
		apihelpers.IsCRDConditionTrue(d, apiextensionsv1.Established) {
		p.served.Replace(nil, customresource.Entries(d, nil))
	}
}

func renewed(lease []byte) time.Time {
	_, rest, _ := bytes.Cut(lease, []byte(`"renewTime":"`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	t, _ := time.Parse(time.RFC3339Nano, string(text)) // the zero time for none
	return t
}

// findings returns the first findings of lint, at the time of the file, and the number of all.
func (p *problems) findings() (first []explain.Finding, all int) {
	p.found.Now = p.newest
	for _, r := range cluster.Served(p.served).Resources {
		if r.Listed {
			r.Unknown = p.unread[r.Name()]
			p.found.Resources = append(p.found.Resources, r.Resource)
		}
	}
	found := p.found.Index().Lint("")
	return append([]explain.Finding{}, found[:min(len(found), MostFindings)]...), len(found)
}
