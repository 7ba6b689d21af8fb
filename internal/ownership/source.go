package ownership

import (
	"slices"

	"github.com/kubecascade/kubecascade/apiserver/authorization"
	"github.com/kubecascade/kubecascade/gc/explain"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/storage/cache"
)

// reach is how much of a resource a user may list.
type reach uint8

const (
	none reach = iota
	// one: the namespace of the request.
	one
	all
)

// source finds the objects that a user may list, at one revision. It is an explain.Source for one question, during
// which the index doesn't change.
type source struct {
	table     *table
	index     *index
	cache     *cache.Cache
	root      string
	namespace string
	revision  int64
	reach     map[*row]reach
	snapshots map[*row]*cache.Snapshot
	// objects are those that were found, by their full keys, at most most; overflow says that there are more.
	objects  map[string]*explain.Object
	most     int
	overflow bool
	// err is the first error of a snapshot.
	err error
}

// permit asks the authorizer what the user may list of each resource, and returns the resources with what is not known
// of them. The reasons are those that package cluster has for a server that denies its lists.
func (s *source) permit(by authorization.Authorizer, user authorization.User) []explain.Resource {
	s.reach = make(map[*row]reach, len(s.table.rows))
	known := make([]explain.Resource, len(s.table.rows))
	for i, r := range s.table.rows {
		known[i] = r.Resource.Resource
		switch {
		case by.Authorize(r.list(user, "")).Allowed():
			s.reach[r] = all
		case r.Namespaced && s.namespace != "" && by.Authorize(r.list(user, s.namespace)).Allowed():
			s.reach[r] = one
			known[i].Unknown, known[i].Within = "you may list those of namespace "+s.namespace+" only", s.namespace
		default:
			known[i].Unknown = "you may not list them"
		}
	}
	return known
}

// list are the attributes of a list.
func (r *row) list(user authorization.User, namespace string) *authorization.Attributes {
	return &authorization.Attributes{
		User: user, Verb: "list", IsResource: true, Path: r.Path(namespace), Group: r.Group, Version: r.Versions[0],
		Resource: r.Plural, Namespace: namespace,
	}
}

// may reports whether the user may see the resource's objects of the namespace.
func (s *source) may(r *row, namespace string) bool {
	return s.reach[r] == all || s.reach[r] == one && namespace == s.namespace
}

// snapshot is the resource's collection at the revision; nil after an error.
func (s *source) snapshot(r *row) *cache.Snapshot {
	if have, ok := s.snapshots[r]; ok {
		return have
	}
	made, err := s.cache.Snapshot(r.entry.Collection, s.revision)
	if err != nil {
		made = nil
		if s.err == nil {
			s.err = err
		}
	}
	s.snapshots[r] = made
	return made
}

// found is the object in the form of gc/explain; nil if it can't be decoded or the user may not see it.
func (s *source) found(r *row, o *storage.Object) *explain.Object {
	if o == nil || o.Err != nil || !s.may(r, o.Meta.Namespace) {
		return nil
	}
	if have := s.objects[o.Key]; have != nil {
		return have
	}
	if len(s.objects) >= s.most {
		s.overflow = true
		return nil
	}
	made := r.object(o)
	s.objects[o.Key] = made
	return made
}

// at returns the objects at full keys.
func (s *source) at(keys []string) (objects []*explain.Object) {
	for _, key := range keys {
		collection, _, _ := storage.Collection(s.root, key)
		r := s.table.collections[collection]
		if r == nil {
			continue
		}
		if snapshot := s.snapshot(r); snapshot != nil {
			if o := s.found(r, snapshot.Get(key)); o != nil {
				objects = append(objects, o)
			}
		}
		if s.overflow {
			break
		}
	}
	return objects
}

// under returns the resource's objects in a namespace; all if it is empty.
func (s *source) under(r *row, namespace string) (objects []*explain.Object) {
	s.each(r, namespace, func(o *storage.Object) bool {
		if e := s.found(r, o); e != nil {
			objects = append(objects, e)
		}
		return !s.overflow
	})
	return objects
}

// each calls yield for the stored objects of a resource in a namespace, until it returns false.
func (s *source) each(r *row, namespace string, yield func(*storage.Object) bool) {
	if s.reach[r] == none {
		return
	}
	prefix := s.key(r, namespace, "")
	if snapshot := s.snapshot(r); snapshot != nil {
		snapshot.Ascend(prefix, prefix, yield)
	}
}

// key is the full key of an object.
func (s *source) key(r *row, namespace, name string) string {
	key := s.root + "/" + r.entry.Collection + "/"
	if namespace != "" {
		key += namespace + "/"
	}
	return key + name
}

// Object implements explain.Source, as the methods below do.
func (s *source) Object(k graph.Key) *explain.Object {
	r := s.table.names[k.Collection]
	if r == nil || r.Namespaced != (k.Namespace != "") {
		return nil
	}
	if found := s.at([]string{s.key(r, k.Namespace, k.Name)}); len(found) > 0 {
		return found[0]
	}
	return nil
}

func (s *source) WithUID(uid string) []*explain.Object { return s.at(s.index.uids[uid]) }

func (s *source) Dependents(uid string) []*explain.Object { return s.at(s.index.dependents[uid]) }

func (s *source) InNamespace(namespace string) (objects []*explain.Object) {
	for _, r := range s.table.rows {
		if r.Namespaced && s.table.names[r.Name()] == r {
			objects = slices.Concat(objects, s.under(r, namespace))
		}
	}
	return objects
}

func (s *source) OfResource(name string) []*explain.Object {
	if r := s.table.names[name]; r != nil {
		return s.under(r, "")
	}
	return nil
}
