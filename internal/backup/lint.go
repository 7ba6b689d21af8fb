package backup

import (
	"bytes"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecascade/kubecascade/apiserver/codec"
	"github.com/kubecascade/kubecascade/apiserver/customresource"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/storage"
)

// MostFindings is how many findings a report has.
const MostFindings = 200

// problems collects what lint needs.
type problems struct {
	objects *cluster.Offline
	// served are the built-in types and those that the file defines.
	served *resources.Types
	// newest is the latest time in the file: that of a heartbeat of a node or a leader, or of a request to delete.
	newest time.Time
}

func newProblems() *problems {
	builtin := resources.NewTable(resources.Builtin()...)
	return &problems{objects: cluster.NewOffline(builtin), served: builtin}
}

// add adds an object, or why it can't be read.
func (p *problems) add(collection string, o *storage.Object, why string) {
	p.objects.Add(collection, o, why)
	if why != "" {
		return
	}
	switch collection {
	case definitions:
		p.define(o)
	case "leases":
		if t := renewed(o.JSON); t.After(p.newest) {
			p.newest = t
		}
	}
	if o.Meta.Deleting() {
		begun := o.Meta.Deletion
		if grace := o.Meta.GracePeriodSeconds; grace != nil {
			begun = begun.Add(-time.Duration(*grace) * time.Second)
		}
		if begun.After(p.newest) {
			p.newest = begun
		}
	}
}

// define adds the types of a CustomResourceDefinition.
func (p *problems) define(o *storage.Object) {
	obj, err := codec.DecodeReadable(p.served.Lookup(apiextensionsv1.GroupName, "v1", "customresourcedefinitions"), o)
	if err != nil {
		return // its reason is in the report
	}
	kind := p.served.Collection(definitions)
	if kind.FromStored != nil {
		obj, err = kind.FromStored(obj)
	}
	if d, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok && err == nil &&
		customresource.True(d, apiextensionsv1.Established) {
		p.served.Replace(nil, customresource.Entries(d, nil))
	}
}

// renewed is spec.renewTime of a Lease.
func renewed(lease []byte) time.Time {
	_, rest, _ := bytes.Cut(lease, []byte(`"renewTime":"`))
	text, _, _ := bytes.Cut(rest, []byte(`"`))
	t, _ := time.Parse(time.RFC3339Nano, string(text)) // the zero time for none
	return t
}

// findings are those of lint at the time of the file, of which the report has the first ones.
func (p *problems) findings() (first []explain.Finding, all int) {
	found := p.objects.Cluster(p.served, p.newest).Lint("")
	return append([]explain.Finding{}, found[:min(len(found), MostFindings)]...), len(found)
}
