package cluster

import (
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/storage"
)

// Offline makes an explain.Cluster of stored objects that no server serves. One goroutine uses it.
type Offline struct {
	types   *resources.Types
	builtin map[string]*Resource
	objects []explain.Object
	unread  map[string]string
}

// NewOffline returns an Offline; types are the built-in ones.
func NewOffline(types *resources.Types) *Offline {
	f := &Offline{types: types, builtin: map[string]*Resource{}, unread: map[string]string{}}
	for _, r := range discover(types).Resources {
		if entry := types.Lookup(r.Group, r.Versions[0], r.Plural); entry != nil {
			f.builtin[entry.Collection] = r
		}
	}
	return f
}

// Add adds an object of a collection. One that can't be read makes its resource's objects not known, with the reason.
func (f *Offline) Add(collection string, o *storage.Object, why string) {
	r := f.builtin[collection]
	if r == nil { // a custom resource
		group, plural, _ := strings.Cut(collection, "/")
		r = &Resource{Resource: explain.Resource{Group: group, Plural: plural, Versions: []string{""}}}
	}
	if why != "" {
		f.unread[r.Name()] = why
		return
	}
	f.objects = append(f.objects, completeOf(r, o, newPods(f.types, r)))
}

// Cluster is the cluster at a moment; types are all that are served there.
func (f *Offline) Cluster(types *resources.Types, now time.Time) *explain.Cluster {
	c := &explain.Cluster{Objects: f.objects, Now: now}
	for _, r := range discover(types).Resources {
		if r.Listed {
			r.Unknown = f.unread[r.Name()]
			c.Resources = append(c.Resources, r.Resource)
		}
	}
	return c
}
