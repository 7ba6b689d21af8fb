package explain

import (
	"slices"
	"strings"
	"time"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Resource is a resource that a server serves.
type Resource struct {
	// Group is empty for the core group. Versions are all served versions, the preferred one first.
	Group    string
	Versions []string
	// Aliases are further apiVersions of the objects, such as those of events.k8s.io of events.
	Aliases []string
	// Kind and Plural name the resource: Deployment and deployments.
	Kind, Plural string
	Namespaced   bool
	// Inert: the objects may be owners, but are never collected (D-08), because they are events, or can't be
	// watched or deleted. Fixed: the objects have no DELETE, so they are not deleted with their namespace either.
	Inert, Fixed bool
	// Delete has the properties on which a DELETE depends, besides the object: the default propagation policy, and
	// whether it is graceful, a namespace's, or leaves a cleanup finalizer.
	Delete finalizers.Kind
	// Unknown is the reason why the objects aren't known, for example that the user may not list them. References to
	// them can't be decided. Empty: all are known.
	Unknown string
	// Within, if Unknown is set, is the namespace whose objects are all known; empty for none.
	Within string
}

// Hides reports whether the namespace may have objects of the resource that aren't known. An empty namespace selects
// cluster-scoped objects.
func (r *Resource) Hides(namespace string) bool {
	return r.Unknown != "" && (r.Within == "" || r.Within != namespace)
}

// Name returns the resource as kubectl takes it: deployments.apps, pods.
func (r *Resource) Name() string { return strings.TrimSuffix(r.Plural+"."+r.Group, ".") }

// APIVersion returns the preferred group and version.
func (r *Resource) APIVersion() string { return strings.TrimPrefix(r.Group+"/"+r.Versions[0], "/") }

// APIVersions returns the apiVersions in which the objects are served, the preferred one first.
func (r *Resource) APIVersions() (all []string) {
	for _, v := range r.Versions {
		all = append(all, strings.TrimPrefix(r.Group+"/"+v, "/"))
	}
	return append(all, r.Aliases...)
}

// Object has the metadata of an object, and more for the kinds whose deletion depends on more.
type Object struct {
	// Key is the resource's Name, the namespace and the name. The name of a CustomResourceDefinition is the Name of the
	// resource that it defines.
	graph.Key
	UID        string
	Owners     []graph.Owner
	Controller string // the uid of the owner reference with controller: true; empty for none
	Finalizers []string
	Created    time.Time // metadata.creationTimestamp; zero if it is not known
	// Deletion is metadata.deletionTimestamp; zero means live. GraceSeconds is metadata.deletionGracePeriodSeconds.
	Deletion     time.Time
	GraceSeconds *int64
	Setters      map[string]string // field managers that set the finalizers, as far as managedFields has them
	Labels       map[string]string
	// SpecFinalizers are a namespace's spec.finalizers, nil for other kinds. Conditions are those of the status of a
	// namespace (E-15) or of a CustomResourceDefinition. They and Pod are nil if only the metadata is known.
	SpecFinalizers []string
	Conditions     []Condition
	Pod            *Pod
	// Uses has groups of objects that this object uses. While it exists, a protection finalizer keeps the last existing
	// object of each group (F-02 to F-08, F-16). No key occurs twice.
	Uses [][]graph.Key
}

// Condition is a condition of a status.
type Condition struct{ Type, Status, Reason, Message string }

// Pod has the fields on which the deletion of a pod depends.
type Pod struct {
	Node         string // spec.nodeName; empty if the pod isn't scheduled
	Finished     bool   // the phase is Succeeded or Failed
	GraceSeconds *int64 // spec.terminationGracePeriodSeconds
}

// Cluster has the objects of a cluster at one moment, as far as they are known.
type Cluster struct {
	Resources []Resource
	Objects   []*Object // shared by an Index and its worlds, which change none
	// Unavailable has the APIServices that are not available: the namespace controller finishes no namespace then (E-14).
	Unavailable []Unavailable
	Hooks       []Hook    // the webhooks and policies that may deny updates or deletions
	Now         time.Time // the moment, by the clock of the cluster
	Revision    int64     // the revision of all that is known; 0 if it is not of one revision
	// Stop, if set, reports whether the answer is no longer wanted. Once it has returned true, it always does. Preview
	// then returns nil.
	Stop func() bool
}

// Unavailable is an APIService that is not available, with the message of its condition.
type Unavailable struct{ Name, Message string }

// Index finds the objects of a cluster, and answers questions about them.
type Index struct {
	c          *Cluster
	resources  map[string]*Resource
	keys       map[graph.Key]*Object
	uids       map[string][]*Object // by uid, for the uids that owner references name
	dependents map[string][]*Object
	content    map[graph.Key][]*Object // the objects that are deleted before a namespace or a CRD
	used       map[graph.Key][]*Object // the objects that use the one with the key
}

// Index returns the index of the objects as they are now.
func (c *Cluster) Index() *Index {
	x := &Index{
		c: c, resources: make(map[string]*Resource, len(c.Resources)), keys: make(map[graph.Key]*Object, len(c.Objects)),
		uids: map[string][]*Object{}, dependents: map[string][]*Object{}, content: map[graph.Key][]*Object{},
		used: map[graph.Key][]*Object{},
	}
	for i := range c.Resources {
		x.resources[c.Resources[i].Name()] = &c.Resources[i]
	}
	for _, o := range c.Objects {
		x.keys[o.Key] = o
		if in := (graph.Key{Collection: namespaces, Name: o.Namespace}); o.Namespace != "" && !x.immortal(o.Key) {
			x.content[in] = append(x.content[in], o)
		}
		of := graph.Key{Collection: crds, Name: o.Collection}
		x.content[of] = append(x.content[of], o)
		for j, owner := range o.Owners {
			if !slices.ContainsFunc(o.Owners[:j], func(w graph.Owner) bool { return w.UID == owner.UID }) {
				x.dependents[owner.UID] = append(x.dependents[owner.UID], o)
			}
		}
		for _, group := range o.Uses {
			for _, k := range group {
				x.used[k] = append(x.used[k], o)
			}
		}
	}
	for _, o := range c.Objects {
		if len(x.dependents[o.UID]) > 0 {
			x.uids[o.UID] = append(x.uids[o.UID], o)
		}
	}
	return x
}

// Object returns the object with the key; nil if there is none.
func (x *Index) Object(k graph.Key) *Object { return x.keys[k] }

func byKey(a, b *Object) int { return a.Key.Compare(b.Key) }

// Begun returns the time when the object's deletion began: the timestamp is the end of the grace period. Zero means
// live.
func (o *Object) Begun() time.Time {
	if o.Deletion.IsZero() || o.GraceSeconds == nil {
		return o.Deletion
	}
	return o.Deletion.Add(-time.Duration(*o.GraceSeconds) * time.Second)
}

// reference names an object, by its preferred version if r, its resource, is known.
func (r *Resource) reference(o *Object) ObjectReference {
	ref := ObjectReference{Namespace: o.Namespace, Name: o.Name, UID: o.UID, resource: o.Collection}
	if r != nil {
		ref.APIVersion, ref.Kind = r.APIVersion(), r.Kind
	}
	return ref
}

// table returns the kinds that owner references may name. A resource without any known objects is left out, so that
// references to it stay undecided.
func table(resources map[string]*Resource) []graph.Kind {
	var kinds []graph.Kind
	for name, r := range resources {
		if r.Unknown != "" && r.Within == "" {
			continue
		}
		for i, v := range r.APIVersions() {
			kinds = append(kinds, graph.Kind{
				APIVersion: v, Kind: r.Kind, Collection: name, Namespaced: r.Namespaced, Preferred: i == 0,
			})
		}
	}
	return kinds
}

// connected returns the objects that a deletion of the given ones can affect. They are joined with the given ones,
// directly or not, by owner references (in both directions), a namespace, a CRD or a use.
func (x *Index) connected(from []graph.Key) (found []*Object) {
	seen, joined := map[*Object]bool{}, map[string]bool{}
	add := func(objects ...*Object) {
		for _, o := range objects {
			if o != nil && !seen[o] {
				seen[o] = true
				found = append(found, o)
			}
		}
	}
	join := func(uid string) { // once for all dependents of an owner
		if !joined[uid] {
			joined[uid] = true
			add(x.uids[uid]...)
			add(x.dependents[uid]...)
		}
	}
	for _, k := range from {
		add(x.keys[k])
	}
	for i := 0; i < len(found); i++ {
		for _, owner := range found[i].Owners {
			join(owner.UID)
		}
		join(found[i].UID)
		add(x.content[found[i].Key]...)
		add(x.used[found[i].Key]...)
		for _, group := range found[i].Uses {
			for _, k := range group { // an object that is not being deleted matters only for others of its group
				if u := x.keys[k]; u != nil && (len(group) > 1 || !u.Deletion.IsZero()) {
					add(u)
				}
			}
		}
	}
	slices.SortFunc(found, byKey)
	return found
}
