package trail

import (
	"slices"
	"strings"
	"time"
	"unique"
)

// Type is a served kind of objects.
type Type struct{ Group, Version, Kind, Resource string }

// Subject is the object that is deleted.
type Subject struct {
	Type
	Namespace, Name, UID string
	// Terminating says that deletionTimestamp was set before it is removed.
	Terminating bool
}

// Sent is a request, as it is told to a Trail.
type Sent struct {
	User, Agent, Verb string
	// URI is empty if it is that of the object in its type's version, without a query.
	URI     string
	AuditID string
	Policy  string
	// Own says that a controller of this process made the request.
	Own    bool
	Reason Reason
	Owners []Object
}

// mostOwners is the maximum number of owners that are remembered of a request.
const mostOwners = 8

// mostString is the maximum length, in bytes, of a string that is remembered of a request.
const mostString = 512

// By is a request as it is kept; many removals may share it. It is immutable.
type By struct {
	actor shared
	// client is nil for requests without a URI of their own and an audit ID, as controllers have them.
	client *client
	// owner is the first owner, the zero value for none; more are the others.
	owner                shared
	more                 *[]shared
	verb, policy, reason uint8
	own                  bool
}

// shared are strings that exist once, as long as something has them. There is one type of them, as each type of
// unique.Handle makes the binary larger.
type shared = unique.Handle[[4]string]

func share(a, b, c, d string) shared { return unique.Make([4]string{a, b, c, d}) }

// client is the rest of a request that was sent over HTTP.
type client struct {
	// uri is followed by a zero byte and the audit ID if that is no UID.
	uri   string
	audit uid
}

// policies and verbs are known words by their number in memory. Other words are not kept.
var (
	policies = [...]string{"", "Background", "Foreground", "Orphan"}
	verbs    = [...]string{"", "delete", "deletecollection", "update", "patch", "create"}
)

// NewBy returns the compact form of a request.
func NewBy(s Sent) *By {
	b := &By{
		actor: share(cut(s.User), cut(s.Agent), "", ""), own: s.Own, verb: number(verbs[:], s.Verb),
		policy: number(policies[:], s.Policy), reason: number(reasons[:], s.Reason),
	}
	if s.URI != "" || s.AuditID != "" {
		audit, odd := uidOf(s.AuditID)
		b.client = &client{strings.Clone(cut(s.URI)), audit}
		if odd {
			b.client.uri += "\x00" + cut(s.AuditID)
		}
	}
	for i, o := range s.Owners[:min(len(s.Owners), mostOwners)] {
		h := share(cut(o.APIVersion), cut(o.Kind), cut(o.Name), cut(o.UID))
		switch {
		case i == 0:
			b.owner = h
		case b.more == nil:
			b.more = &[]shared{h}
		default:
			*b.more = append(*b.more, h)
		}
	}
	return b
}

// number is the index of a word in a list; 0 if it isn't there.
func number[T comparable](list []T, word T) uint8 { return uint8(max(0, slices.Index(list, word))) }

// owners are the owners of the request.
func (b *By) owners() (owners []Object) {
	if b.owner != (shared{}) {
		owners = append(owners, objectOf(b.owner))
	}
	if b.more != nil {
		for _, h := range *b.more {
			owners = append(owners, objectOf(h))
		}
	}
	return owners
}

func objectOf(s shared) Object {
	v := s.Value()
	return Object{APIVersion: v[0], Kind: v[1], Name: v[2], UID: v[3]}
}

// cut returns at most mostString bytes of a string.
func cut(s string) string {
	if len(s) <= mostString {
		return s
	}
	return strings.ToValidUTF8(s[:mostString], "") + "…"
}

// weight estimates the bytes of the strings that a request keeps.
func (b *By) weight() int {
	if b == nil {
		return 0
	}
	a := b.actor.Value()
	n := len(a[0]) + len(a[1])
	if b.client != nil {
		n += len(b.client.uri)
	}
	if b.more != nil {
		n += len(*b.more) * mostString / 2
	}
	return n
}

// entry is one removal. The comment on a field is its size in bytes.
type entry struct {
	kind               shared // 8
	namespace          shared // 8
	label              string // 16, and the name; if odd is set, a zero byte and the uid follow
	uid                uid    // 16
	marked, removed    int64  // 16: revisions; 0 for none
	markedAt           int64  // 8: as removedAt
	removedAt          int64  // 8: milliseconds since 1970
	asked, finished    *By    // 16, and 48 to 80 for each request that no other removal shares
	finalizers, lastOf shared // 16: joined by commas; the zero value for none
	elsewhere, odd     bool   // 8 with padding
}

// entryBytes is the size of an entry with its place in the index and its own request.
const entryBytes = 120 + 32 + 80

func newEntry(s *Subject) entry {
	e := entry{
		kind:      share(s.Group, s.Version, s.Kind, s.Resource),
		namespace: share(s.Namespace, "", "", ""),
	}
	if e.uid, e.odd = uidOf(s.UID); e.odd {
		e.label = s.Name + "\x00" + cut(s.UID)
	} else {
		e.label = strings.Clone(s.Name)
	}
	return e
}

// typ is the type of the object, in its namespace.
func (e *entry) typ() Type {
	v := e.kind.Value()
	return Type{Group: v[0], Version: v[1], Kind: v[2], Resource: v[3]}
}

func (e *entry) in() string { return e.namespace.Value()[0] }

// name returns the object's name and uid.
func (e *entry) name() (name, id string) {
	if e.odd {
		name, id, _ = strings.Cut(e.label, "\x00")
		return name, id
	}
	return e.label, e.uid.String()
}

// weight estimates the bytes that the entry keeps.
func (e *entry) weight() int {
	n := entryBytes + len(e.label) + e.asked.weight()
	if e.finished != e.asked {
		n += e.finished.weight()
	}
	for _, l := range []shared{e.finalizers, e.lastOf} {
		if l != (shared{}) {
			n += len(l.Value()[0])
		}
	}
	return n
}

// joined is a list of finalizers in one string.
func joined(list []string) (h shared) {
	switch len(list) {
	case 0:
		return h
	case 1:
		return share(cut(list[0]), "", "", "")
	}
	n := 0
	for i, f := range list {
		if n += len(f) + 1; n > mostString {
			list = append(slices.Clone(list[:i]), "…")
			break
		}
	}
	return share(strings.Join(list, ","), "", "", "")
}

func split(h shared) []string {
	if h == (shared{}) {
		return nil
	}
	return strings.Split(h.Value()[0], ",")
}

// moment returns nil for revision 0.
func moment(revision, at int64) *Moment {
	if revision == 0 {
		return nil
	}
	return &Moment{revision, time.UnixMilli(at).UTC()}
}

// removal returns what is known of the entry.
func (e *entry) removal() *Removal {
	k := e.typ()
	name, id := e.name()
	r := &Removal{
		Object: Object{
			APIVersion: k.apiVersion(), Kind: k.Kind, Namespace: e.in(), Name: name, UID: id,
		},
		Terminating: moment(e.marked, e.markedAt), Removed: moment(e.removed, e.removedAt),
		Finalizers: split(e.finalizers), LastFinalizers: split(e.lastOf), Elsewhere: e.elsewhere,
		Asked: e.asked.request(e),
	}
	if e.finished != e.asked {
		r.Finished = e.finished.request(e)
	}
	return r
}

func (k Type) apiVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// path is the path of the object's URL.
func (k Type) path(namespace, name string) string {
	p := "/apis/" + k.apiVersion()
	if k.Group == "" {
		p = "/api/" + k.Version
	}
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	return p + "/" + k.Resource + "/" + name
}

// controllers begins the user names of controllers.
const controllers = "system:serviceaccount:kube-system:"

// request returns the request of the removal e.
func (b *By) request(e *entry) *Request {
	if b == nil {
		return nil
	}
	a := b.actor.Value()
	r := &Request{
		User: a[0], UserAgent: a[1], Verb: verbs[b.verb], Policy: policies[b.policy], Reason: reasons[b.reason],
	}
	if b.own {
		name, account := strings.CutPrefix(a[0], controllers)
		if !account { // a part of kube-apiserver, or a simulated kubelet
			name = a[1]
		}
		r.Controller = name
	}
	if c := b.client; c != nil {
		var odd bool
		if r.URI, r.AuditID, odd = strings.Cut(c.uri, "\x00"); !odd {
			r.AuditID = c.audit.String()
		}
	}
	if r.URI == "" {
		name, _ := e.name()
		r.URI = e.typ().path(e.in(), name)
	}
	for _, o := range b.owners() {
		r.Owners = append(r.Owners, Owner{Object: o})
	}
	return r
}
