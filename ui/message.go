package ui

import (
	"maps"
	"slices"
	"time"
)

// The values of Message.Type.
const (
	// MessageBegin begins a state: the page forgets the one before.
	MessageBegin = "begin"
	// MessageObjects has objects of the state.
	MessageObjects = "objects"
	// MessagePast has changes from the time before the state, the oldest first.
	MessagePast = "past"
	// MessageSynced ends a state.
	MessageSynced = "synced"
	// MessageChanges has changes since then.
	MessageChanges = "changes"
	// MessageBeat means that nothing has changed up to its revision. One is sent every Beat at least.
	MessageBeat = "beat"
	// MessageError ends the stream.
	MessageError = "error"
)

const (
	// Beat is the interval of MessageBeat.
	Beat = 5 * time.Second
	// Batch is how many objects or changes a message has at most.
	Batch = 500
	// MostObjects is how many objects a stream has at most.
	MostObjects = 20000
	// MostPast is how many changes MessagePast has at most.
	MostPast = 5000
)

// Message is a line of a stream.
type Message struct {
	Type string `json:"type"`
	// Revision is the store's, up to which everything has been sent; 0 if the state is not of one revision.
	Revision int64     `json:"revision,omitempty"`
	Time     time.Time `json:"time"`
	// Source, in MessageBegin, says whose state it is: SourceServer or SourceLists.
	Source    string     `json:"source,omitempty"`
	Resources []Resource `json:"resources,omitempty"`
	Objects   []Object   `json:"objects,omitempty"`
	Changes   []Change   `json:"changes,omitempty"`
	// Queue, in MessageBeat and MessageSynced, is how many objects wait for the garbage collector; nil if that is not
	// known.
	Queue *int `json:"queue,omitempty"`
	// Stale, in MessageBeat, are the resources that can't be watched at present, with the reasons.
	Stale []string `json:"stale,omitempty"`
	// Error is the message of MessageError.
	Error string `json:"error,omitempty"`
}

// The values of Message.Source.
const (
	// SourceServer: the state and the changes are those of a kubecascade server's memory, exact and in order.
	SourceServer = "server"
	// SourceLists: they are from lists and watches of each resource, which follow each other closely.
	SourceLists = "lists"
)

// Resource is a resource that the cluster serves.
type Resource struct {
	// Name is the plural with the group: deployments.apps.
	Name       string `json:"name"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Plural     string `json:"plural"`
	Namespaced bool   `json:"namespaced,omitempty"`
	// Unknown says why the objects are not shown.
	Unknown string `json:"unknown,omitempty"`
}

// Object is what the page shows of an object: its metadata, as far as the deletion depends on it.
type Object struct {
	// Resource is the Name of its resource.
	Resource  string `json:"r"`
	Namespace string `json:"ns,omitempty"`
	Name      string `json:"n"`
	UID       string `json:"uid"`
	// Created is metadata.creationTimestamp; zero if it is not known. Deletion is metadata.deletionTimestamp in the same
	// form; Grace is metadata.deletionGracePeriodSeconds.
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

// Change is a change of one object. One without Before is a creation, and one without After a removal.
type Change struct {
	Revision int64 `json:"rev,omitempty"`
	// Time is when it happened, in seconds since 1970; 0 if that is not known, as for some in MessagePast.
	Time   float64 `json:"t,omitempty"`
	Before *Object `json:"b,omitempty"`
	After  *Object `json:"a,omitempty"`
}

// Same reports whether two states of an object look the same.
func (o *Object) Same(p *Object) bool {
	return o.UID == p.UID && o.Name == p.Name && o.Namespace == p.Namespace && o.Resource == p.Resource &&
		o.Deletion == p.Deletion && o.Grace == p.Grace && slices.Equal(o.Finalizers, p.Finalizers) &&
		slices.Equal(o.Owners, p.Owners) && maps.Equal(o.Labels, p.Labels)
}
