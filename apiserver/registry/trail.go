package registry

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/gc/trail"
	"github.com/kubecascade/kubecascade/storage"
)

// Sender describes a request to package trail.
type Sender interface {
	// Sent returns the request without its user and policy: its agent, verb, URI, audit ID and reason. cur is the
	// object that the request deletes, or nil for a collection.
	Sent(t Target, cur *storage.Object) trail.Sent
}

// newTrailRequest returns the request as package trail records it. opts are the options of a deletion, otherwise nil.
func newTrailRequest(r *Request, cur *storage.Object, opts *metav1.DeleteOptions) *trail.Request {
	sent := trail.Sent{}
	if r.Sender != nil {
		sent = r.Sender.Sent(r.Target, cur)
	}
	sent.User = r.User.Name
	if opts != nil {
		sent.Policy = policyOf(opts)
	}
	return trail.NewRequest(sent)
}

// trailRequest returns the deletion as package trail records it.
func (d *Deletion) trailRequest(cur *storage.Object) *trail.Request {
	if d.sent == nil {
		d.sent = newTrailRequest(d.Request, cur, d.Options)
	}
	return d.sent
}

// policyOf returns the propagation policy that the options set (C-20).
func policyOf(opts *metav1.DeleteOptions) string {
	switch {
	case opts.PropagationPolicy != nil:
		return string(*opts.PropagationPolicy)
	case opts.OrphanDependents == nil:
		return ""
	case *opts.OrphanDependents:
		return string(metav1.DeletePropagationOrphan)
	}
	return string(metav1.DeletePropagationBackground)
}

// subject returns the object of the request for package trail. ok is false for objects that expire, such as Events:
// their records would displace those of the objects that they describe.
func (r *Request) subject(cur *storage.Object) (s trail.Subject, ok bool) {
	res := r.Resource
	return trail.Subject{
		Type:      trail.Type{Group: res.Group, Version: res.Version, Kind: res.Kind, Resource: res.Plural},
		Namespace: r.Namespace, Name: r.Name, UID: cur.Meta.UID, Terminating: cur.Meta.Deleting(),
	}, !res.Expires
}

// marked records that the request has started the object's deletion.
func (s *Registry) marked(d *Deletion, cur *storage.Object, finalizers []string, revision int64) {
	if subject, ok := d.subject(cur); ok {
		s.Trail.Marked(&subject, revision, s.Now(), finalizers, d.trailRequest(cur))
	}
}

// removed records that the request has removed the object at the revision.
func (s *Registry) removed(r *Request, cur *storage.Object, revision int64, by *trail.Request) {
	if subject, ok := r.subject(cur); ok {
		s.Trail.Removed(&subject, revision, s.Now(), cur.Meta.Finalizers, by)
	}
}

// ownRequest is a request of the in-process client. It implements Sender.
type ownRequest struct {
	l    *Loopback
	verb string
}

// Sent implements Sender.
func (o ownRequest) Sent(t Target, cur *storage.Object) trail.Sent {
	sent := trail.Sent{Verb: o.verb, Agent: o.l.manager, Own: true, Reason: o.l.reason, Owners: o.l.owners}
	if cur == nil || t.Subresource != nil {
		sent.URI = t.path()
	}
	if cur == nil {
		return sent
	}
	for _, owner := range cur.Meta.Owners {
		if slices.ContainsFunc(sent.Owners, func(known trail.Object) bool { return known.UID == owner.UID }) {
			continue
		}
		switch sent.Reason {
		case trail.OwnerAbsent, trail.OwnerDeleted, trail.OwnerWaits:
		case trail.ControllerDecision:
			if !owner.Controller {
				continue
			}
		default:
			continue
		}
		sent.Owners = append(slices.Clip(sent.Owners), trail.Object{
			APIVersion: owner.APIVersion, Kind: owner.Kind, Name: owner.Name, UID: owner.UID,
		})
	}
	return sent
}
