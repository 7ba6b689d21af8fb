package model

import "slices"

// Verb is the kind of an operation.
type Verb string

// The verbs.
const (
	Create     Verb = "create"
	Get        Verb = "get"
	Put        Verb = "put"
	Merge      Verb = "merge"
	Strategic  Verb = "strategic"
	JSON       Verb = "json"
	Delete     Verb = "delete"
	Collection Verb = "deletecollection"
)

// Op is a request with symbols instead of uids and versions. Most fields apply to some verbs only.
type Op struct {
	// ID is the position in the generated list. It does not change when the list is reduced.
	ID   int
	Verb Verb
	Key  Key
	// At is the version in the request's path, or empty for the kind's own version. All versions have the same
	// metadata.
	At string `json:",omitempty"`
	// Owners, Finalizers and Label are the fields of the object in a create or put. A merge replaces those of them that
	// Set names. A strategic patch merges Owners by uid and removes Drop.
	Owners     []Owner `json:",omitempty"`
	Finalizers []string
	Label      string `json:",omitempty"`
	Set        Fields `json:",omitempty"`
	Drop       []UID  `json:",omitempty"`
	// Remove is the field that json removes: ownerReferences or finalizers.
	Remove string `json:",omitempty"`
	// Bound and Period are the fields of a created pod.
	Bound  bool  `json:",omitempty"`
	Period int64 `json:",omitempty"`
	DryRun bool  `json:",omitempty"`
	// UID and Version are preconditions of a delete, or fields in the metadata of a patch or put. Version is Current or
	// Stale until the operation is sent, then a number.
	UID     UID   `json:",omitempty"`
	Version int64 `json:",omitempty"`
	// Policy, Orphans and Grace are options of a delete; nil means no Grace. Query: they are sent in the query.
	Policy  string `json:",omitempty"`
	Orphans Tri    `json:",omitempty"`
	Grace   *int64 `json:",omitempty"`
	Query   bool   `json:",omitempty"`
}

// Fields is a set of the fields that a merge patch replaces.
type Fields uint8

// The fields.
const (
	SetOwners Fields = 1 << iota
	SetFinalizers
	SetLabel
)

// The values of an operation's Version before it is sent.
const (
	Current int64 = -1
	Stale   int64 = -2
)

// APIVersion returns the version in the request's path.
func (o Op) APIVersion() string {
	if o.At != "" {
		return o.At
	}
	return KindOf(o.Key.Kind).APIVersion
}

// Resolve returns the operation as it is sent to a server in the state s.
func (o Op) Resolve(s State) Op {
	switch o.Version {
	case Current:
		o.Version = s[o.Key].Version // 0 (none) if there is no object: the response is 404 in any case
	case Stale:
		o.Version = 1
	}
	return o
}

// Response is the part of a response that the model determines.
type Response struct {
	Code int
	// Reason is the reason of a Status with the status Failure.
	Reason string
	// Object is the object in the response, unless the response is a Status or a list.
	Object *Object
	// Items are the items of a list.
	Items []Object
}

// Same compares everything except versions. No object has the uid that a dry run returns for a created object.
func (r Response) Same(x Response) bool {
	return r.Code == x.Code && r.Reason == x.Reason && slices.EqualFunc(r.Items, x.Items, Object.Same) &&
		(r.Object == nil) == (x.Object == nil) && (r.Object == nil || r.Object.Same(*x.Object))
}

// EventType is the type of a watch event.
type EventType string

// The types.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
)

// Event is a watch event. A DELETED event has the last stored state (B-24).
type Event struct {
	Type   EventType
	Object Object
}

// Same compares everything except versions.
func (e Event) Same(f Event) bool { return e.Type == f.Type && e.Object.Same(f.Object) }

// The namespaces of the model.
var (
	// Namespaces always exist.
	Namespaces = []string{"a", "b"}
	// NoNamespace does not exist.
	NoNamespace = "missing"
)

func invalid() Response  { return Response{Code: 422, Reason: "Invalid"} }
func notFound() Response { return Response{Code: 404, Reason: "NotFound"} }
func conflict() Response { return Response{Code: 409, Reason: "Conflict"} }
