package loopback

import (
	"context"
	"fmt"
	"slices"
	"strconv"

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
type Collector struct{ API *registry.Loopback }

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
	p, err := c.path(d.Object)
	if err != nil {
		return err
	}
	uid, rev := types.UID(d.Object.UID), strconv.FormatInt(d.Object.Revision, 10)
	_, err = c.API.Because(trailCause(d.Cause)).Delete(ctx, p, &metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &rev}, PropagationPolicy: &d.Policy}, d.Guards...)
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
func (c *Collector) RemoveOwners(ctx context.Context, r gc.RemoveOwnersRequest) error {
	p, err := c.path(r.Object)
	if err != nil {
		return err
	}
	_, err = edit(ctx, c.API, p, r.Object, r.Exact, func(m metav1.Object) {
		left := slices.DeleteFunc(slices.Clone(m.GetOwnerReferences()), func(o metav1.OwnerReference) bool {
			return slices.Contains(r.UIDs, string(o.UID))
		})
		if !p.Resource.Custom { // custom resources are patched by a merge that keeps the order (D-52)
			left = merged(left)
		}
		m.SetOwnerReferences(left)
	})
	return err
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
func (c *Collector) Unblock(ctx context.Context, u gc.UnblockRequest) (revision int64, err error) {
	p, err := c.path(u.Object)
	if err != nil {
		return 0, err
	}
	return edit(ctx, c.API, p, u.Object, false, func(m metav1.Object) {
		refs := m.GetOwnerReferences()
		for i := range refs {
			if b := refs[i].BlockOwnerDeletion; b != nil && *b && slices.Contains(u.UIDs, string(refs[i].UID)) {
				no := false
				refs[i].BlockOwnerDeletion = &no
			}
		}
		m.SetOwnerReferences(refs)
	})
}

// RemoveFinalizer implements gc.API (D-44).
func (c *Collector) RemoveFinalizer(ctx context.Context, r gc.RemoveFinalizerRequest) error {
	p, err := c.path(r.Object)
	if err != nil {
		return err
	}
	reason := trail.DependentsGone
	if r.Finalizer == graph.Orphan.String() {
		reason = trail.DependentsOrphaned
	}
	_, err = edit(ctx, c.API.Because(reason, nil), p, r.Object, true, func(m metav1.Object) {
		m.SetFinalizers(slices.DeleteFunc(slices.Clone(m.GetFinalizers()), func(f string) bool { return f == r.Finalizer }))
	})
	return err
}

// edit changes an object's metadata if it still is the same object and, if exact, has the same revision.
func edit(
	ctx context.Context, api *registry.Loopback, p registry.Path, o gc.Object, exact bool, f func(metav1.Object),
) (revision int64, err error) {
	out, err := api.Link(ctx, p, func(m metav1.Object) error {
		gr := p.Resource.GroupResource()
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
	})
	if err != nil {
		return 0, err
	}
	return out.Revision, nil
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
