package explain

import (
	"slices"
	"time"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/gc/graph"
)

// Resource is a resource that a server serves.
type Resource struct {
	// Group is empty for the core group. Versions are all served versions, the preferred one first.
	Group    string
	Versions []string
	// Aliases are further apiVersions in which owner references may name the objects: events are those of
	// events.k8s.io.
	Aliases []string
	// Kind and Plural name the resource: Deployment and deployments.
	Kind, Plural string
	Namespaced   bool
	// Inert resources' objects may be owners, but are never collected (D-08): events.
	Inert bool
	// Delete has what a DELETE depends on besides the object: the default propagation policy, and whether it is
	// graceful, a namespace's, or leaves a cleanup finalizer.
	Delete finalizers.Kind
	// Unknown is why the objects aren't known, for example that the user may not list them. References to them can't be
	// decided. Empty: all are known.
	Unknown string
	// Within, if Unknown is set, is the namespace whose objects are all known; empty for none.
	Within string
}

// Hides reports whether there may be objects of the namespace that aren't known; of cluster-scoped ones if it is empty.
func (r *Resource) Hides(namespace string) bool {
	return r.Unknown != "" && (r.Within == "" || r.Within != namespace)
}

// Name is the resource as kubectl takes it: deployments.apps, pods.
func (r *Resource) Name() string {
	if r.Group == "" {
		return r.Plural
	}
	return r.Plural + "." + r.Group
}

// APIVersion is the preferred group and version.
func (r *Resource) APIVersion() string { return r.apiVersion(r.Versions[0]) }

func (r *Resource) apiVersion(version string) string {
	if r.Group == "" {
		return version
	}
	return r.Group + "/" + version
}

// Object has the metadata of an object, and more for the kinds whose deletion depends on more.
type Object struct {
	// Key is the resource's Name, the namespace and the name.
	graph.Key
	UID    string
	Owners []graph.Owner
	// Controller is the uid of the owner reference with controller: true; empty for none.
	Controller string
	Finalizers []string
	Created    time.Time // metadata.creationTimestamp; zero if it is not known
	// Deletion is metadata.deletionTimestamp; zero means live. GraceSeconds is metadata.deletionGracePeriodSeconds.
	Deletion     time.Time
	GraceSeconds *int64
	// Setters are the field managers that set the finalizers, as managedFields tells; it may lack some.
	Setters map[string]string
	Labels  map[string]string
	// Namespace, CRD and Pod are set for such objects, if more than the metadata is known.
	Namespace *Namespace
	CRD       *CRD
	Pod       *Pod
}

// Namespace has what the deletion of a namespace depends on.
type Namespace struct {
	// Finalizers are spec.finalizers.
	Finalizers []string
	// Conditions are those of the status, which the namespace controller writes (E-15).
	Conditions []Condition
}

// CRD has what the deletion of a CustomResourceDefinition depends on.
type CRD struct {
	// Resource is the Name of the defined resource.
	Resource   string
	Conditions []Condition
}

// Condition is a condition of a status.
type Condition struct{ Type, Status, Reason, Message string }

// Pod has what the deletion of a pod depends on.
type Pod struct {
	// Node is spec.nodeName; empty if the pod isn't scheduled.
	Node string
	// Finished: the phase is Succeeded or Failed.
	Finished bool
	// GraceSeconds is spec.terminationGracePeriodSeconds.
	GraceSeconds *int64
}

// Cluster has the objects of a cluster at one moment, as far as they are known.
type Cluster struct {
	Resources []Resource
	Objects   []Object
	// Unavailable are the APIServices that are not available.
	Unavailable []Unavailable
	// Held: the namespace controller finishes no namespace while there are Unavailable ones, as that of Kubernetes
	// (E-14).
	Held bool
	// Hooks are the webhooks and policies that may deny updates or deletions.
	Hooks []Hook
	// Now is the moment, by the clock of the cluster.
	Now time.Time
	// Revision is the revision of all that is known; 0 if it is not of one revision.
	Revision int64
	// Stop, if set, reports whether the answer is no longer wanted. It is called repeatedly, and Preview returns nil
	// after it has returned true.
	Stop func() bool
}

// Unavailable is an APIService that is not available, with the message of its condition.
type Unavailable struct{ Name, Message string }

// index finds a cluster's objects.
type index struct {
	c          *Cluster
	resources  map[string]*Resource
	keys       map[graph.Key]*Object
	uids       map[string][]*Object
	dependents map[string][]*Object
	namespaces map[string][]*Object
}

func (c *Cluster) index() *index {
	x := &index{
		c:          c,
		resources:  make(map[string]*Resource, len(c.Resources)),
		keys:       make(map[graph.Key]*Object, len(c.Objects)),
		uids:       make(map[string][]*Object, len(c.Objects)),
		dependents: map[string][]*Object{},
		namespaces: map[string][]*Object{},
	}
	for i := range c.Resources {
		x.resources[c.Resources[i].Name()] = &c.Resources[i]
	}
	for i := range c.Objects {
		o := &c.Objects[i]
		x.keys[o.Key] = o
		x.uids[o.UID] = append(x.uids[o.UID], o)
		if o.Key.Namespace != "" {
			x.namespaces[o.Key.Namespace] = append(x.namespaces[o.Key.Namespace], o)
		}
		for j, owner := range o.Owners {
			if !slices.ContainsFunc(o.Owners[:j], func(w graph.Owner) bool { return w.UID == owner.UID }) {
				x.dependents[owner.UID] = append(x.dependents[owner.UID], o)
			}
		}
	}
	return x
}

// Begun is when the object's deletion began: the timestamp is the end of the grace period. Zero means live.
func (o *Object) Begun() time.Time {
	if o.Deletion.IsZero() || o.GraceSeconds == nil {
		return o.Deletion
	}
	return o.Deletion.Add(-time.Duration(*o.GraceSeconds) * time.Second)
}

// defines is the Name of the resource that a CRD defines, which is the CRD's name.
func (o *Object) defines() string {
	if o.CRD != nil {
		return o.CRD.Resource
	}
	return o.Name
}

// reference names an object, by its preferred version if r, its resource, is known.
func (r *Resource) reference(o *Object) ObjectReference {
	ref := ObjectReference{Namespace: o.Key.Namespace, Name: o.Name, UID: o.UID, resource: o.Collection}
	if r != nil {
		ref.APIVersion, ref.Kind = r.APIVersion(), r.Kind
	}
	return ref
}

func (x *index) ref(o *Object) ObjectReference { return x.resources[o.Collection].reference(o) }

// table are the kinds that owner references may name. A resource without any known objects is left out, so that
// references to it stay undecided.
func table(resources map[string]*Resource) []graph.Kind {
	var kinds []graph.Kind
	for name, r := range resources {
		if r.Unknown != "" && r.Within == "" {
			continue
		}
		versions := make([]string, 0, len(r.Versions)+len(r.Aliases))
		for _, v := range r.Versions {
			versions = append(versions, r.apiVersion(v))
		}
		for i, v := range append(versions, r.Aliases...) {
			kinds = append(kinds, graph.Kind{
				APIVersion: v, Kind: r.Kind, Collection: name, Namespaced: r.Namespaced, Preferred: i == 0,
			})
		}
	}
	return kinds
}
