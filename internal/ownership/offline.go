package ownership

import (
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/internal/cluster"
	"github.com/kubecascade/kubecascade/storage"
)

// Offline makes an explain.Cluster of stored objects that no server serves. One goroutine uses it.
type Offline struct {
	// builtin has the built-in resources only.
	builtin *table
	objects []explain.Object
	unread  map[string]string
}

// NewOffline returns an Offline; types are the built-in ones.
func NewOffline(types *resources.Types) *Offline {
	return &Offline{builtin: newTable(types), unread: map[string]string{}}
}

// Add adds an object of a collection. One that can't be read makes its resource's objects not known, with the reason.
func (f *Offline) Add(collection string, o *storage.Object, why string) {
	r := f.builtin.collections[collection]
	if r == nil { // a custom resource
		group, plural, _ := strings.Cut(collection, "/")
		r = &row{Resource: &cluster.Resource{Resource: explain.Resource{Group: group, Plural: plural}}}
	}
	if why != "" {
		f.unread[r.Name()] = why
		return
	}
	f.objects = append(f.objects, *r.object(o))
}

// Cluster is the cluster at a moment; types are all that are served there.
func (f *Offline) Cluster(types *resources.Types, now time.Time) *explain.Cluster {
	c := &explain.Cluster{Objects: f.objects, Now: now}
	for _, r := range newTable(types).rows {
		known := r.Resource.Resource
		known.Unknown = f.unread[r.Name()]
		c.Resources = append(c.Resources, known)
	}
	return c
}
