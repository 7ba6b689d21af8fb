package ui

import (
	"reflect"
	"time"
)

// The values of Message.Type.
const (
	MessageBegin   = "begin"   // begins a state, which replaces the state before
	MessageObjects = "objects" // has objects of the state
	MessagePast    = "past"    // has changes before the state, the oldest first
	MessageSynced  = "synced"  // ends a state
	MessageChanges = "changes" // has changes after the state
	MessageBeat    = "beat"    // nothing has changed up to its revision; sent at least every Beat
	MessageError   = "error"   // ends the stream
)

// The interval of MessageBeat, and the limits of objects or changes in a message, objects in a stream, and changes in
// MessagePast.
const (
	Beat        = 5 * time.Second
	Batch       = 500
	MostObjects = 20000
	MostPast    = 5000
)

// Message is a line of a stream.
type Message struct {
	Type string `json:"type"`
	// Revision is the store's revision. All changes up to it have been sent. It is 0 if the state is not of one
	// revision.
	Revision int64     `json:"revision,omitempty"`
	Time     time.Time `json:"time"`
	// Source, in MessageBegin, is the source of the state: SourceServer or SourceLists.
	Source    string     `json:"source,omitempty"`
	Resources []Resource `json:"resources,omitempty"`
	Objects   []Object   `json:"objects,omitempty"`
	Changes   []Change   `json:"changes,omitempty"`
	// Queue, in MessageBeat and MessageSynced, is the number of objects that wait for the garbage collector, or nil if
	// it is not known.
	Queue *int `json:"queue,omitempty"`
	// Stale, in MessageBeat, has the resources that can't be watched at present, with the reasons.
	Stale []string `json:"stale,omitempty"`
	Error string   `json:"error,omitempty"` // the message of MessageError
}

// The values of Message.Source.
const (
	// SourceServer: the state and the changes are those in the memory of a kubecascade server, exact and in order.
	SourceServer = "server"
	// SourceLists: the state and the changes come from a list and a watch of each resource. The state is not of one
	// revision, and changes of different resources may be out of order.
	SourceLists = "lists"
)

// Resource is a resource that the cluster serves.
type Resource struct {
	Name       string `json:"name"` // the plural with the group: deployments.apps
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Plural     string `json:"plural"`
	Namespaced bool   `json:"namespaced,omitempty"`
	Unknown    string `json:"unknown,omitempty"` // the reason why the objects are not shown
}

// Object has the fields of an object that the page shows: the metadata on which its deletion depends.
type Object struct {
	Resource  string `json:"r"` // the Name of its resource
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"n"`
	UID       string `json:"uid"`
	// Created is metadata.creationTimestamp, and Deletion metadata.deletionTimestamp, in seconds since 1970; zero if
	// there is none. Grace is metadata.deletionGracePeriodSeconds.
	Created    int64             `json:"c,omitempty"`
	Deletion   int64             `json:"d,omitempty"`
	Grace      int64             `json:"g,omitempty"`
	Finalizers []string          `json:"f,omitempty"`
	Owners     []Owner           `json:"o,omitempty"`
	Labels     map[string]string `json:"l,omitempty"`
}

// Owner is an owner reference.
type Owner struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller,omitempty"`
	Block      bool   `json:"block,omitempty"`
}

// Change is a change of one object. A creation has no Before, and a removal has no After.
type Change struct {
	Revision int64 `json:"rev,omitempty"`
	// Time is the time of the change, in seconds since 1970; 0 if it is not known, as for some changes in MessagePast.
	Time   float64 `json:"t,omitempty"`
	Before *Object `json:"b,omitempty"`
	After  *Object `json:"a,omitempty"`
}

// Visible reports whether the change affects a field of an Object.
func (c *Change) Visible() bool { return !reflect.DeepEqual(c.Before, c.After) }
