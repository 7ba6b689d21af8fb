package model

import "slices"

// Verb is what an operation does.
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

// Op is a request in symbols. Its fields beyond ID, Verb and Key belong to some verbs only.
type Op struct {
	// ID is the place in the list that was generated; it stays when the list is reduced.
	ID   int
	Verb Verb
	Key  Key
	// At is the version that the request names, empty for the kind's own. Every version shows the same metadata.
	At string `json:",omitempty"`
	// Owners, Finalizers and Label are what create and put give the object, and what merge
	// replaces (where Set says so). Strategic adds Owners by uid and takes Drop away.
	Owners     []Owner `json:",omitempty"`
	Finalizers []string
	Label      string `json:",omitempty"`
	Set        Fields `json:",omitempty"`
	Drop       []UID  `json:",omitempty"`
	// Remove is the field that json removes: ownerReferences or finalizers.
	Remove string `json:",omitempty"`
	// Bound and Period are a created pod's.
	Bound  bool  `json:",omitempty"`
	Period int64 `json:",omitempty"`
	DryRun bool  `json:",omitempty"`
	// UID and Version are preconditions: of a delete, or what a patch or put claims. A Version
	// is Current or Stale until the operation is sent, then a number.
	UID     UID   `json:",omitempty"`
	Version int64 `json:",omitempty"`
	// Policy, Orphans and Grace are options of a delete; Grace nil is none. Query: they are sent in the query.
	Policy  string `json:",omitempty"`
	Orphans Tri    `json:",omitempty"`
	Grace   *int64 `json:",omitempty"`
	Query   bool   `json:",omitempty"`
}

// Fields states what a merge patch replaces.
type Fields uint8

// The fields.
const (
	SetOwners Fields = 1 << iota
	SetFinalizers
	SetLabel
)

// What the Version of an operation is before it is sent.
const (
	Current int64 = -1
	Stale   int64 = -2
)

// APIVersion is the version that the request names.
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
		o.Version = s[o.Key].Version // 0, none, if there is no object: the answer is 404 anyway
	case Stale:
		o.Version = 1
	}
	return o
}

// Response is the part of an answer that the model knows.
type Response struct {
	Code int
	// Reason of a Status that says failure.
	Reason string
	// Object is the answer, unless it is a Status or a list.
	Object *Object
	// Items are a list's.
	Items []Object
}

// Same compares all but versions. The uid of an object that a dry run creates is nobody's.
func (r Response) Same(x Response) bool {
	return r.Code == x.Code && r.Reason == x.Reason && slices.EqualFunc(r.Items, x.Items, Object.Same) &&
		(r.Object == nil) == (x.Object == nil) && (r.Object == nil || r.Object.Same(*x.Object))
}

// EventType is a watch event's.
type EventType string

// The types.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
)

// Event is a watch event. A DELETED one carries the last state that was stored (B-24).
type Event struct {
	Type   EventType
	Object Object
}

// Same compares all but versions.
func (e Event) Same(f Event) bool { return e.Type == f.Type && e.Object.Same(f.Object) }

// World is what a state lives in.
var (
	// Namespaces exist all the time.
	Namespaces = []string{"a", "b"}
	// NoNamespace doesn't exist.
	NoNamespace = "missing"
)

func invalid() Response  { return Response{Code: 422, Reason: "Invalid"} }
func notFound() Response { return Response{Code: 404, Reason: "NotFound"} }
func conflict() Response { return Response{Code: 409, Reason: "Conflict"} }
