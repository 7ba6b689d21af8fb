package trail

import (
	"container/list"
	"strings"
	"time"
)

// entry is a removal, or a deletion that has begun. Its requests may have no URI.
type entry struct {
	Removal
	resource string // of Type; its other fields are in the Object
	// weight is the result of weigh when the entry was added or changed.
	weight int
}

func newEntry(s *Subject) *entry {
	return &entry{resource: s.Resource, Removal: Removal{Object: Object{
		APIVersion: s.apiVersion(), Kind: s.Kind,
		Namespace: copied(s.Namespace), Name: copied(s.Name), UID: copied(s.UID),
	}}}
}

func (e *entry) kind() Type {
	t := Type{Version: e.Object.APIVersion, Kind: e.Object.Kind, Resource: e.resource}
	if group, version, ok := strings.Cut(e.Object.APIVersion, "/"); ok {
		t.Group, t.Version = group, version
	}
	return t
}

// begin records the request that began the deletion, and end the one that removed the object: the same one, unless the
// object was terminating.
func (e *entry) begin(at *Moment, finalizers []string, by *Request) {
	e.Terminating, e.Finalizers, e.Asked = at, finalizers, by
}

func (e *entry) end(s *Subject, lastFinalizers []string, by *Request) {
	if e.LastFinalizers = lastFinalizers; e.Terminating != nil || s.Terminating {
		e.Finished = by
	} else {
		e.Asked = by
	}
}

func moment(revision int64, at time.Time) *Moment {
	return &Moment{revision, at.UTC().Truncate(time.Millisecond)}
}

// removal returns a copy for an answer.
func (e *entry) removal() *Removal {
	r := e.Removal
	r.Asked = e.request(e.Asked)
	if r.Finished = nil; e.Finished != e.Asked {
		r.Finished = e.request(e.Finished)
	}
	return &r
}

func (e *entry) request(by *Request) *Request {
	if by == nil {
		return nil
	}
	r := *by
	if r.URI == "" {
		r.URI = e.kind().path(e.Object.Namespace, e.Object.Name)
	}
	r.Owners = append([]Owner(nil), by.Owners...)
	return &r
}

// entryBytes is about the size of an entry without its strings, with its places in the list and in the index, and of
// its own request.
const entryBytes = 440

// weigh estimates the bytes that the entry keeps in memory. A request that several entries share counts for each.
func (e *entry) weigh() int {
	n := entryBytes
	add := func(all ...string) {
		for _, s := range all {
			n += len(s)
		}
	}
	object := func(o *Object) { add(o.APIVersion, o.Kind, o.Namespace, o.Name, o.UID) }
	object(&e.Object)
	add(e.Finalizers...)
	add(e.LastFinalizers...)
	for _, r := range []*Request{e.Asked, e.Finished} {
		if r != nil {
			if add(r.URI, r.AuditID); r.Controller == "" { // a controller's names are constants
				add(r.User, r.UserAgent, r.Verb)
			}
			for i := range r.Owners {
				object(&r.Owners[i].Object)
			}
		}
	}
	return n
}

// recent are the last entries in the order in which they were added, at most limit, and with at most the bytes.
type recent struct {
	limit, bytes int
	weight       int
	// order has *entry, the oldest first. byUID has the last element of each uid.
	order *list.List
	byUID map[string]*list.Element
}

func newRecent(limit, bytes int) recent {
	return recent{limit: limit, bytes: bytes, order: list.New(), byUID: map[string]*list.Element{}}
}

// get returns the last entry of the uid; nil if there is none.
func (r *recent) get(uid string) *entry {
	if at := r.byUID[cut(uid)]; at != nil {
		return at.Value.(*entry)
	}
	return nil
}

// add adds an entry, after it has removed the oldest ones that are too many.
func (r *recent) add(e *entry) {
	e.weight = e.weigh()
	for r.order.Len() >= r.limit || r.order.Len() > 0 && r.weight+e.weight > r.bytes {
		r.remove(r.order.Front())
	}
	at := r.order.PushBack(e)
	r.weight += e.weight
	if e.Object.UID != "" {
		r.byUID[e.Object.UID] = at
	}
}

// changed is called after an entry has been changed.
func (r *recent) changed(e *entry) {
	r.weight -= e.weight
	e.weight = e.weigh()
	r.weight += e.weight
}

// take removes the last entry of the uid and returns it; nil if there is none.
func (r *recent) take(uid string) *entry { return r.remove(r.byUID[cut(uid)]) }

func (r *recent) remove(at *list.Element) *entry {
	if at == nil {
		return nil
	}
	e := r.order.Remove(at).(*entry)
	r.weight -= e.weight
	if r.byUID[e.Object.UID] == at { // a later object may have the uid
		delete(r.byUID, e.Object.UID)
	}
	return e
}
