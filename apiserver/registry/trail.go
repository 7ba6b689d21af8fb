package registry

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecascade/kubecascade/finalizers"
	"github.com/kubecascade/kubecascade/storage"
	"github.com/kubecascade/kubecascade/trail"
)

// Sender is a request of a client, of which the trail has more than its user.
type Sender interface {
	// Sent returns the request's agent, verb, URI and audit ID.
	Sent() trail.Sent
}

// Because is why a controller sends a request.
type Because struct {
	Reason trail.Reason
	// Owners are the objects that the reason is about. Those of OwnerAbsent, OwnerDeleted and OwnerWaits are followed by
	// the object's other owners.
	Owners []trail.Object
}

// Because returns a client of the same identity that records why it deletes objects, or removes finalizers.
func (l *Loopback) Because(reason trail.Reason, owners []trail.Object) *Loopback {
	out := *l
	out.because = &Because{reason, owners}
	return &out
}

// TypeOf is a resource as the trail has it.
func TypeOf(t Target) trail.Type {
	return trail.Type{Group: t.Resource.Group, Version: t.Resource.Version, Kind: t.Resource.Kind,
		Resource: t.Resource.Plural}
}

// subject is the object of the operation. Events are not recorded, like all objects that expire: they would push out
// the objects that they are about.
func (o *Operation) subject(cur *storage.Object) (s trail.Subject, ok bool) {
	return trail.Subject{Type: TypeOf(o.Target), Namespace: o.Namespace, Name: o.Name, UID: cur.Meta.UID,
		Terminating: cur.Meta.Deleting()}, !o.Resource.Expires
}

// marked records that the operation has begun the object's deletion.
func (s *Registry) marked(o *Operation, cur *storage.Object, verdict finalizers.Verdict, revision int64) {
	if subject, ok := o.subject(cur); ok && verdict.MarkTerminating {
		s.Trail.Marked(&subject, revision, s.Now(), verdict.Finalizers, s.by(o, cur))
	}
}

// Removed records that the operation has removed the object at the revision.
func (s *Registry) Removed(o *Operation, cur *storage.Object, revision int64) {
	if subject, ok := o.subject(cur); ok {
		s.Trail.Removed(&subject, revision, s.Now(), cur.Meta.Finalizers, s.by(o, cur))
	}
}

// by is the request as the trail has it. All objects of a collection share it.
func (s *Registry) by(o *Operation, cur *storage.Object) *trail.By {
	if o.by != nil {
		return o.by
	}
	sent := trail.Sent{}
	switch {
	case o.sender != nil:
		sent = s.sentBy(o, cur)
	case o.Sender != nil:
		sent = o.Sender.Sent()
	}
	sent.User = o.User.Name
	if o.deletes != nil {
		sent.Policy = policyOf(o.deletes)
	}
	o.by = trail.NewBy(sent)
	return o.by
}

// policyOf is the propagation policy that the options name (C-20).
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

// sentBy is a request of the in-process client. cur is nil for a collection.
func (s *Registry) sentBy(o *Operation, cur *storage.Object) trail.Sent {
	sent := trail.Sent{Verb: o.sender.verb, Agent: o.sender.manager, Own: true, Reason: trail.ControllerDecision}
	if cur == nil || o.Subresource != nil {
		sent.URI = o.path()
	}
	if b := o.sender.because; b != nil {
		sent.Reason, sent.Owners = b.Reason, b.Owners
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

// sender is the in-process client that sends an operation.
type sender struct {
	verb, manager string
	because       *Because
}
