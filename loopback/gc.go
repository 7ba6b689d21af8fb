package loopback

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecascade/kubecascade/apiserver/registry"
	"github.com/kubecascade/kubecascade/apiserver/resources"
	"github.com/kubecascade/kubecascade/gc"
	"github.com/kubecascade/kubecascade/gc/graph"
	"github.com/kubecascade/kubecascade/gc/trail"
)

// Collector implements gc.API and gc.Kinds.
type Collector struct {
	API *registry.Loopback
	// others has the objects of the collections that are graph.Aggregated; nil if there are none.
	others *elsewhere
}

// Kinds implements gc.Kinds.
func (c *Collector) Kinds() ([]graph.Kind, <-chan struct{}) {
	types := c.API.Types()
	// The channel is read before the table, so that no change between the two is missed.
	changed := types.Changed()
	var table []graph.Kind
	for _, r := range types.All() {
		if r.Collection == "" {
			continue
		}
		table = append(table, graph.Kind{APIVersion: r.GroupVersion().String(), Kind: r.Kind, Collection: r.Collection,
			Namespaced: r.Namespaced, Preferred: preferred(types, r)})
	}
	return table, changed
}

// preferred reports whether the entry has its group's preferred version, or the only version with the resource.
func preferred(types *resources.Types, r *resources.Resource) bool {
	for _, g := range types.Groups() {
		if g.Name == r.Group && types.Lookup(g.Name, g.Preferred, r.Plural) != nil {
			return g.Preferred == r.Version
		}
	}
	return true
}

// isElsewhere reports whether another server has the object.
func isElsewhere(o gc.Object) bool { return strings.HasPrefix(o.Collection, graph.Aggregated) }

// path finds an object's entry.
func (c *Collector) path(o gc.Object) (registry.Path, error) {
	r := c.API.Types().Collection(o.Collection)
	if r == nil {
		return registry.Path{}, apierrors.NewNotFound(schema.GroupResource{Resource: o.Collection}, o.Name)
	}
	return registry.Path{Resource: r, Namespace: o.Namespace, Name: o.Name}, nil
}

// Delete implements gc.API.
func (c *Collector) Delete(ctx context.Context, d gc.DeleteRequest) error {
	uid, rev := types.UID(d.Object.UID), strconv.FormatInt(d.Object.Revision, 10)
	o := &metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &rev}, PropagationPolicy: &d.Policy}
	if isElsewhere(d.Object) {
		return c.edit(ctx, c.API, d.Object, true, func(metav1.Object) {}, o)
	}
	p, err := c.path(d.Object)
	if err != nil {
		return err
	}
	_, err = c.API.Because(trailCause(d.Cause)).Delete(ctx, p, o, d.Guards...)
	return err
}

// trailCause returns the cause of a deletion in the form that the trail records.
func trailCause(c graph.Cause) (trail.Reason, []trail.Object) {
	var owners []trail.Object
	if o := c.Owner; o.UID != "" {
		owners = []trail.Object{{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: o.UID}}
	}
	switch c.Reason {
	case graph.DeletedOwner:
		return trail.OwnerDeleted, owners
	case graph.ForegroundOwner:
		return trail.OwnerWaits, owners
	}
	return trail.OwnerAbsent, owners
}

// RemoveOwners implements gc.API (D-50 to D-52).
func (c *Collector) RemoveOwners(ctx context.Context, r graph.RemoveOwners) error {
	return c.edit(ctx, c.API, r.Object, r.Exact, func(m metav1.Object) {
		left := slices.DeleteFunc(slices.Clone(m.GetOwnerReferences()), func(o metav1.OwnerReference) bool {
			return slices.Contains(r.Owners, string(o.UID))
		})
		// Custom resources, and objects of other servers, are patched by a merge that keeps the order (D-52).
		if t := c.API.Types().Collection(r.Object.Collection); t != nil && !t.Custom {
			left = merged(left)
		}
		m.SetOwnerReferences(left)
	}, nil)
}

// merged moves references with the same uid to the position of the first of them, as a strategic merge does (D-50).
func merged(refs []metav1.OwnerReference) []metav1.OwnerReference {
	first := map[types.UID]int{}
	for i, r := range refs {
		if _, ok := first[r.UID]; !ok {
			first[r.UID] = i
		}
	}
	if len(first) < len(refs) {
		slices.SortStableFunc(refs, func(a, b metav1.OwnerReference) int { return first[a.UID] - first[b.UID] })
	}
	return refs
}

// Unblock implements gc.API (D-53, J-14).
func (c *Collector) Unblock(ctx context.Context, u graph.Unblock) error {
	return c.edit(ctx, c.API, u.Object, false, func(m metav1.Object) {
		refs := m.GetOwnerReferences()
		for i := range refs {
			if b := refs[i].BlockOwnerDeletion; b != nil && *b && slices.Contains(u.Owners, string(refs[i].UID)) {
				refs[i].BlockOwnerDeletion = new(bool)
			}
		}
		m.SetOwnerReferences(refs)
	}, nil)
}

// RemoveFinalizer implements gc.API (D-44).
func (c *Collector) RemoveFinalizer(ctx context.Context, r graph.RemoveFinalizer) error {
	reason := trail.DependentsGone
	if r.Finalizer == graph.Orphan {
		reason = trail.DependentsOrphaned
	}
	return c.edit(ctx, c.API.Because(reason, nil), r.Object, true, func(m metav1.Object) {
		m.SetFinalizers(slices.DeleteFunc(slices.Clone(m.GetFinalizers()), func(f string) bool {
			return f == r.Finalizer.String()
		}))
	}, nil)
}

// edit changes an object's metadata if it still is the same object and, if exact, has the same revision. If remove is
// set, an object of another server is deleted instead.
func (c *Collector) edit(ctx context.Context, api *registry.Loopback, o gc.Object, exact bool, f func(metav1.Object),
	remove *metav1.DeleteOptions,
) error {
	change := func(m metav1.Object) error {
		gr := schema.GroupResource{Resource: o.Collection}
		if string(m.GetUID()) != o.UID {
			return apierrors.NewNotFound(gr, o.Name) // another object has the name (J-40)
		}
		if exact && m.GetResourceVersion() != strconv.FormatInt(o.Revision, 10) {
			return apierrors.NewConflict(
				gr, o.Name, fmt.Errorf("it is at revision %s, not %d", m.GetResourceVersion(), o.Revision),
			)
		}
		f(m)
		return nil
	}
	if isElsewhere(o) {
		return c.others.edit(ctx, o, change, remove)
	}
	p, err := c.path(o)
	if err == nil {
		_, err = api.Link(ctx, p, change)
	}
	return err
}

// CreateEvent implements gc.API.
func (c *Collector) CreateEvent(ctx context.Context, e *corev1.Event) error {
	return createEvent(ctx, c.API, e)
}

// CountEvent implements gc.API.
func (c *Collector) CountEvent(ctx context.Context, e *corev1.Event) error {
	return countEvent(ctx, c.API, e, func(stored *corev1.Event) {
		stored.Count++
		stored.LastTimestamp = e.LastTimestamp
	})
}
