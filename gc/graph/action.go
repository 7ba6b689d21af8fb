package graph

import (
	"fmt"
	"strings"
)

// Action is something to do. Delete, RemoveOwners, Unblock and RemoveFinalizer are requests: each is answered by one
// Result with its ticket. Report, Retry and Forget are not answered.
type Action interface {
	action()
	String() string
}

// Policy is a propagation policy.
type Policy uint8

// The policies.
const (
	Background Policy = iota
	ForegroundPolicy
	OrphanPolicy
)

// String returns the policy as in DeleteOptions.
func (p Policy) String() string { return [...]string{"Background", "Foreground", "Orphan"}[p] }

// Finalizer is one of the two finalizers of the collector.
type Finalizer uint8

// The finalizers.
const (
	Orphan Finalizer = iota
	Foreground
)

// String returns the name in metadata.finalizers.
func (f Finalizer) String() string { return [...]string{"orphan", "foregroundDeletion"}[f] }

// Reason is the reason for a request.
type Reason uint8

// The reasons.
const (
	// AbsentOwner: no owner exists, and the graph has seen no deletion of one.
	AbsentOwner Reason = iota
	// DeletedOwner: the deletion of an owner was seen.
	DeletedOwner
	// ForegroundOwner: an owner is being deleted in the foreground.
	ForegroundOwner
	// OrphaningOwner: an owner is, or was, deleted and orphans its dependents.
	OrphaningOwner
)

// String returns the reason in logs.
func (r Reason) String() string {
	return [...]string{"absent owner", "background", "foreground", "orphan"}[r]
}

// Cause explains a request to users. It has no effect.
type Cause struct {
	Reason Reason
	// Owner is the first reference to which the reason applies; the zero value if the object itself is the owner.
	Owner Owner
}

// Delete deletes an object that has no owner any more.
type Delete struct {
	Ticket Ticket
	// Object must still have this uid and revision.
	Object Ref
	Policy Policy
	// Guards are the keys of all owners, sorted, each once.
	Guards []Guard
	Cause  Cause
}

// RemoveOwners removes references from an object, which stays.
type RemoveOwners struct {
	Ticket Ticket
	// Object must still have this uid.
	Object Ref
	// Exact reports whether it must have this revision, too. It is true if a reference is wrong or its owner is being
	// deleted, because an update can change that. It is false if the owners are gone or orphan their dependents,
	// because that is final.
	Exact bool
	// Owners are the uids of the references to remove, sorted, each once.
	Owners []string
	// Orphaning reports whether an owner with the orphan finalizer waits for this request.
	Orphaning bool
	Cause     Cause
}

// Unblock sets blockOwnerDeletion to false where it is true, in the references with these uids.
type Unblock struct {
	Ticket Ticket
	// Object must still have this uid.
	Object Ref
	// Owners are the uids, sorted, each once.
	Owners []string
	Cause  Cause
}

// RemoveFinalizer removes a finalizer of the collector from an owner.
type RemoveFinalizer struct {
	Ticket Ticket
	// Object must still have this uid and revision.
	Object    Ref
	Finalizer Finalizer
}

// Report reports to the user that the object's owner lives in another namespace (D-80).
type Report struct {
	Object Ref
	Owner  Owner
}

// Retry requests a Due with this ticket after a time that grows with Attempt (1 at first).
type Retry struct {
	Ticket  Ticket
	Object  Ref
	Attempt int
}

// Forget cancels a Retry.
type Forget struct{ Ticket Ticket }

func (Delete) action()          {}
func (RemoveOwners) action()    {}
func (Unblock) action()         {}
func (RemoveFinalizer) action() {}
func (Report) action()          {}
func (Retry) action()           {}
func (Forget) action()          {}

// String prints the request on one line.
func (a Delete) String() string {
	guards := make([]string, len(a.Guards))
	for i, g := range a.Guards {
		guards[i] = g.String()
	}
	return fmt.Sprintf("delete %s %s if [%s] #%d", a.Object, a.Policy, strings.Join(guards, " "), a.Ticket)
}

// String prints the request on one line.
func (a RemoveOwners) String() string {
	var words string
	if a.Exact {
		words += " exact"
	}
	if a.Orphaning {
		words += " orphaning"
	}
	return fmt.Sprintf("remove-owners %s [%s]%s #%d", a.Object, strings.Join(a.Owners, " "), words, a.Ticket)
}

// String prints the request on one line.
func (a Unblock) String() string {
	return fmt.Sprintf("unblock %s [%s] #%d", a.Object, strings.Join(a.Owners, " "), a.Ticket)
}

// String prints the request on one line.
func (a RemoveFinalizer) String() string {
	return fmt.Sprintf("remove-finalizer %s %s #%d", a.Object, a.Finalizer, a.Ticket)
}

// String prints the report on one line.
func (a Report) String() string {
	return fmt.Sprintf("report %s: no %s %s uid %s in namespace %q",
		a.Object, a.Owner.Kind, a.Owner.Name, a.Owner.UID, a.Object.Namespace)
}

// String prints the action on one line.
func (a Retry) String() string {
	return fmt.Sprintf("retry %s attempt %d #%d", a.Object, a.Attempt, a.Ticket)
}

// String prints the action on one line.
func (a Forget) String() string { return fmt.Sprintf("forget #%d", a.Ticket) }
