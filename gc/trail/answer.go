package trail

import "time"

// Answer is the response of /kubecascade/v1/trail.
type Answer struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Since is the time when the server began to record, Removals the number of removals since then, Kept the number of
	// removals that the server still has, and Limit the maximum of Kept.
	Since    time.Time  `json:"since"`
	Removals int64      `json:"removals"`
	Kept     int        `json:"kept"`
	Limit    int        `json:"limit"`
	Items    []*Removal `json:"items"` // the removals that match the query, the latest first
}

// Object names an object.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid,omitempty"`
}

// Moment is a revision of the store and its time; Revision is 0 if it is not known.
type Moment struct {
	Revision int64     `json:"revision,omitempty"`
	Time     time.Time `json:"time"`
}

// Removal is the recorded part of the removal of one object.
type Removal struct {
	Object Object `json:"object"`
	// Terminating is the time when deletionTimestamp was set; nil if it was not, or if that is not known. Removed is
	// when the object was removed; nil if it still exists.
	Terminating *Moment  `json:"terminating,omitempty"`
	Removed     *Moment  `json:"removed,omitempty"`
	Finalizers  []string `json:"finalizers,omitempty"` // those that the object had when its deletion began
	// Asked is the request to delete the object. It is nil if it is not known: another server handled it, or this
	// server did before its last start or too long ago.
	Asked *Request `json:"asked,omitempty"`
	// Finished is the request that removed the object; nil if Asked did, or if it is not known. LastFinalizers are the
	// finalizers that it removed.
	Finished       *Request `json:"finished,omitempty"`
	LastFinalizers []string `json:"lastFinalizers,omitempty"`
	// Elsewhere: another server over the same etcd removed the object, and knows the request.
	Elsewhere bool `json:"elsewhere,omitempty"`
}

// Request is a request that began or finished the removal of an object.
type Request struct {
	User string `json:"user"`
	// Controller is the name of the controller of this process that made the request; empty for clients.
	Controller string `json:"controller,omitempty"`
	UserAgent  string `json:"userAgent,omitempty"`
	Verb       string `json:"verb,omitempty"`
	URI        string `json:"uri,omitempty"`
	AuditID    string `json:"auditID,omitempty"`
	Fault      string `json:"fault,omitempty"` // an injected fault that the request met
	// Policy is the propagation policy that the request names; empty if it names none.
	Policy string  `json:"propagationPolicy,omitempty"`
	Reason Reason  `json:"reason,omitempty"` // why a controller made the request; empty for clients
	Owners []Owner `json:"owners,omitempty"` // the objects that the reason is about, the decisive one first
}

// Owner is an object that the reason of a request is about.
type Owner struct {
	Object Object   `json:"object"`
	Trail  *Removal `json:"trail,omitempty"` // its own removal; nil if none is known
	// Hidden is the reason why Trail is not shown. Repeated: Trail is shown elsewhere in the response.
	Hidden   string `json:"hidden,omitempty"`
	Repeated bool   `json:"repeated,omitempty"`
}

// Reason is the reason why a controller made a request. Values never change their meaning.
type Reason string

// The reasons. Those of the garbage collector are the verdicts on the owners of the object (gc/graph: Reason).
const (
	OwnerAbsent        Reason = "OwnerAbsent"        // no owner exists, and the collector has seen no deletion of one
	OwnerDeleted       Reason = "OwnerDeleted"       // the owner is gone
	OwnerWaits         Reason = "OwnerWaits"         // the owner, deleted in the foreground, waits for the object
	DependentsGone     Reason = "DependentsGone"     // no dependent blocks the object: its foregroundDeletion was removed
	DependentsOrphaned Reason = "DependentsOrphaned" // no dependent names the object: its finalizer orphan was removed
	NamespaceDeleted   Reason = "NamespaceDeleted"   // the namespace of the object is being deleted
	NamespaceEmpty     Reason = "NamespaceEmpty"     // the namespace controller finalized a namespace without content
	// CustomResourceDefinitionDeleted: the kind of the object is being deleted.
	CustomResourceDefinitionDeleted Reason = "CustomResourceDefinitionDeleted"
	// ControllerDecision: a controller other than those above decided that the object is not needed. Owners has the
	// object's controller, if it has one.
	ControllerDecision Reason = "ControllerDecision"
)
