package explain

import (
	"cmp"
	"slices"

	"github.com/kubecascade/kubecascade/gc/graph"
)

// Source finds the objects of a cluster at one moment, for questions that need only a few of them. The same object is
// always the same pointer. Objects that aren't known are not found, and the Unknown of their resource says why.
type Source interface {
	// Object returns the object at the key; nil if there is none.
	Object(k graph.Key) *Object
	// WithUID returns the objects with the uid, which are more than one only if someone has written them so.
	WithUID(uid string) []*Object
	// Dependents returns the objects with a reference to the uid, each once.
	Dependents(uid string) []*Object
	// InNamespace returns the objects of a namespace, OfResource those of the resource with this Name.
	InNamespace(namespace string) []*Object
	OfResource(name string) []*Object
}

// Excerpt returns the cluster with those objects of the source that answers about the objects at the keys depend on:
// Tree, Why and Preview of the excerpt are those of the whole cluster. It has no objects itself. ok is false if they
// are more than most: the excerpt is then incomplete.
func (c Cluster) Excerpt(s Source, keys []graph.Key, most int) (excerpt *Cluster, ok bool) {
	e := &excerpts{
		source:    s,
		hooks:     len(c.Hooks) > 0,
		resources: map[string]*Resource{},
		order:     map[string]int{},
		known:     map[*Object]bool{},
	}
	for i := range c.Resources {
		r := &c.Resources[i]
		e.resources[r.Name()], e.order[r.Name()] = r, i
		switch {
		case r.Delete.Namespace:
			e.namespaces = r.Name()
		case r.Delete.Cleanup != "":
			e.definitions = r.Name()
		}
	}
	found, ok := connected(s, e.resources, keys, most)
	if !ok {
		return nil, false
	}
	e.add(found...)
	for i := 0; i < len(e.objects); i++ {
		if e.surround(e.objects[i]); len(e.objects) > most {
			return nil, false
		}
	}
	slices.SortFunc(e.objects, func(a, b *Object) int {
		return cmp.Or(cmp.Compare(e.order[a.Collection], e.order[b.Collection]), a.Key.Compare(b.Key))
	})
	c.Objects = make([]Object, len(e.objects))
	for i, o := range e.objects {
		c.Objects[i] = *o
	}
	return &c, true
}

// excerpts makes an excerpt.
type excerpts struct {
	source Source
	// hooks: there are some, which may select by the labels of namespaces.
	hooks     bool
	resources map[string]*Resource
	// order has the place of each resource, by which the objects of a cluster are ordered.
	order map[string]int
	// namespaces and definitions are the Names of the resources of namespaces and CRDs; empty if not served.
	namespaces, definitions string
	objects                 []*Object
	known                   map[*Object]bool
}

func (e *excerpts) add(objects ...*Object) {
	for _, o := range objects {
		if o != nil && !e.known[o] {
			e.known[o] = true
			e.objects = append(e.objects, o)
		}
	}
}

// surround adds what Why looks at besides the connected objects: the namespace of an object or the CRD of its kind, if
// they are being deleted; the pods that are deleted before it; the node of a pod. The namespace is added for selectors
// of hooks, too.
func (e *excerpts) surround(o *Object) {
	n := e.source.Object(graph.Key{Collection: e.namespaces, Name: o.Key.Namespace})
	switch {
	case n == nil:
	case n.Deletion.IsZero() && e.hooks:
		e.add(n)
	case !n.Deletion.IsZero() && !e.known[n]:
		e.add(n)
		for _, p := range e.source.InNamespace(n.Name) {
			if r := e.resources[p.Collection]; r != nil && r.Delete.Graceful {
				e.add(p)
			}
		}
	}
	if d := e.source.Object(graph.Key{Collection: e.definitions, Name: o.Collection}); d != nil &&
		!d.Deletion.IsZero() {
		e.add(d)
	}
	if o.Pod != nil && o.Pod.Node != "" {
		e.add(e.source.Object(graph.Key{Collection: nodes, Name: o.Pod.Node}))
	}
}

// connected returns the objects that a deletion of the given ones can concern: all that are joined with them by owner
// references, in both directions, by a namespace that is being deleted or would be, or by a CRD. ok is false if they
// are more than most.
func connected(s Source, resources map[string]*Resource, from []graph.Key, most int) (found []*Object, ok bool) {
	var next []*Object
	seen, asked := map[*Object]bool{}, map[string]bool{}
	visit := func(objects ...*Object) {
		for _, o := range objects {
			if o != nil && !seen[o] {
				seen[o] = true
				found, next = append(found, o), append(next, o)
			}
		}
	}
	joined := func(uid string) { // once for all dependents of an owner
		if !asked[uid] {
			asked[uid] = true
			visit(s.WithUID(uid)...)
			visit(s.Dependents(uid)...)
		}
	}
	for _, k := range from {
		visit(s.Object(k))
	}
	for len(next) > 0 && len(found) <= most {
		o := next[len(next)-1]
		next = next[:len(next)-1]
		for _, owner := range o.Owners {
			joined(owner.UID)
		}
		joined(o.UID)
		visit(content(s, resources[o.Collection], o)...)
	}
	slices.SortFunc(found, func(a, b *Object) int { return a.Key.Compare(b.Key) })
	return found, len(found) <= most
}

// content returns what is deleted before an object of the resource is: the objects of a namespace, or of a CRD.
func content(s Source, r *Resource, o *Object) []*Object {
	switch {
	case r == nil:
		return nil
	case r.Delete.Namespace:
		return s.InNamespace(o.Name)
	case r.Delete.Cleanup != "":
		return s.OfResource(o.defines())
	}
	return nil
}
