package trail

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

var (
	began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pods  = Type{"", "v1", "Pod", "pods"}
	sets  = Type{"apps", "v1", "ReplicaSet", "replicasets"}
	apps  = Type{"apps", "v1", "Deployment", "deployments"}
)

func all(Type, string) string { return "" }

func id(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-0123456789ab", n) }

// remove records the removal of a pod.
func remove(t *Trail, n int, by *Request) {
	s := Subject{Type: pods, Namespace: "default", Name: fmt.Sprint("pod-", n), UID: id(n)}
	t.Removed(&s, int64(n), began, nil, by)
}

func names(items []*Removal) (names []string) {
	for _, r := range items {
		names = append(names, r.Object.Name)
	}
	return names
}

// limited returns a Trail with other limits of each part.
func limited(limit, bytes int) *Trail {
	part := recent{limit: limit, bytes: bytes}
	t := &Trail{removed: part, deleting: part}
	t.Reset(began)
	return t
}

// empty removes all entries and checks that nothing is left of them.
func (r *recent) empty(t *testing.T) {
	t.Helper()
	for r.order.Len() > 0 {
		r.remove(r.order.Front())
	}
	if r.weight != 0 || len(r.byUID) != 0 {
		t.Errorf("an empty trail has the weight %d and %d uids", r.weight, len(r.byUID))
	}
}

// TestLastRemovalsAreKept: the last removals are kept, and the index forgets the others.
func TestLastRemovalsAreKept(t *testing.T) {
	for _, limit := range []int{3, 1500} {
		tr := limited(limit, mostBytes)
		for n := 1; n <= 3*limit+1; n++ {
			remove(tr, n, nil)
		}
		if a := tr.Answer(); a.Kept != limit || a.Limit != limit || len(tr.removed.byUID) != limit ||
			a.Removals != int64(3*limit+1) {
			t.Errorf("%+v, %d in the index", a, len(tr.removed.byUID))
		}
		oldest := 2*limit + 2
		if got := tr.Find(Query{UID: id(oldest - 1)}, all); got != nil {
			t.Errorf("a forgotten removal was found: %v", names(got))
		}
		for _, n := range []int{oldest, 3*limit + 1} {
			if got := names(tr.Find(Query{UID: id(n)}, all)); !reflect.DeepEqual(got, []string{fmt.Sprint("pod-", n)}) {
				t.Errorf("removal %d: %v", n, got)
			}
		}
		tr.removed.empty(t)
	}
}

// TestRemovalsOfUsualSizeAreKept: removals of usual size are all kept, whether a user or the collector requested them.
func TestRemovalsOfUsualSizeAreKept(t *testing.T) {
	for name, sent := range map[string]Sent{
		"user": {User: "system:admin", Agent: "kubectl/v1.36.3 (linux/amd64)", Verb: "delete", AuditID: id(1)},
		"collector": {User: controllers + "generic-garbage-collector", Agent: "kube-controller-manager", Own: true,
			Verb: "delete", Reason: OwnerDeleted,
			Owners: []Object{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d8f6c9b7c", UID: id(1)}}},
	} {
		tr := New(began)
		for i := range Removals {
			s := &Subject{Type: pods, Namespace: "default", Name: fmt.Sprintf("web-5d8f6c9b7c-%05d", i), UID: id(i)}
			tr.Removed(s, int64(i), began, nil, NewRequest(sent))
		}
		if a := tr.Answer(); a.Kept != Removals {
			t.Errorf("%s: %d are kept of %d", name, a.Kept, Removals)
		}
	}
}

// TestLastObjectOfUIDIsFound: the last object with a uid is found, also after an earlier one was forgotten.
func TestLastObjectOfUIDIsFound(t *testing.T) {
	tr := limited(2, mostBytes)
	for _, name := range []string{"a", "b", "c"} {
		uid := id(1)
		if name == "c" {
			uid = id(2)
		}
		tr.Removed(&Subject{Type: pods, Name: name, UID: uid}, 1, began, nil, nil)
	}
	if got := names(tr.Find(Query{UID: id(1)}, all)); !reflect.DeepEqual(got, []string{"b"}) {
		t.Errorf("%v", got)
	}
}

// TestLongStringsAreCutOff: long strings push out more than one removal, and are cut off.
func TestLongStringsAreCutOff(t *testing.T) {
	tr := limited(100, 20<<10)
	long := strings.Repeat("é", 10_000)
	for n := range 100 {
		by := NewRequest(Sent{User: "alice", URI: long, Verb: "delete"})
		if n == 0 && len(by.URI) > mostString+4 {
			t.Errorf("a URI of %d bytes is kept", len(by.URI))
		}
		remove(tr, n, by)
	}
	if n := tr.removed.order.Len(); tr.removed.weight > 20<<10 || n < 15 || n > 50 {
		t.Errorf("%d bytes in %d removals", tr.removed.weight, n)
	}
	s := &Subject{Type: pods, Namespace: "default", Name: "a", UID: id(200)}
	tr.Marked(s, 1, began, []string{"a/b", long, "c/d"}, nil)
	if got := tr.Find(Query{UID: s.UID}, all)[0].Finalizers; !reflect.DeepEqual(got, []string{"a/b", "…"}) {
		t.Errorf("finalizers %q", got)
	}
	tr.removed.empty(t)
	tr.deleting.empty(t)
}

// TestBeginOfDeletionIsKeptUntilRemoval: the deletion's begin is recorded until the removal; the oldest is dropped
// first.
func TestBeginOfDeletionIsKeptUntilRemoval(t *testing.T) {
	tr := limited(3, mostBytes)
	alice := NewRequest(Sent{User: "alice", Verb: "delete", Policy: "Foreground"})
	bob := NewRequest(Sent{User: "bob", Verb: "patch"})
	for n := 1; n <= 4; n++ {
		s := &Subject{Type: pods, Namespace: "default", Name: fmt.Sprint("pod-", n), UID: id(n)}
		tr.Marked(s, int64(n), began, []string{"a/b", "c/d"}, alice)
		tr.Marked(s, int64(n)+100, began, nil, bob) // a second one is ignored
	}
	if got := names(tr.Find(Query{Kind: "pod"}, all)); !reflect.DeepEqual(got, []string{"pod-4", "pod-3", "pod-2"}) {
		t.Errorf("being deleted: %v", got)
	}
	for _, n := range []int{1, 3, 2, 4} {
		s := &Subject{Type: pods, Namespace: "default", Name: fmt.Sprint("pod-", n), UID: id(n), Terminating: true}
		tr.Removed(s, int64(n)+10, began.Add(time.Second), []string{"c/d"}, bob)
	}
	if tr.deleting.order.Len() != 0 || tr.deleting.weight != 0 || len(tr.deleting.byUID) != 0 {
		t.Errorf("objects that are being deleted are left: %+v", tr.deleting)
	}
	got := tr.Find(Query{Name: "pod-3", Namespace: "default"}, all)
	want := []*Removal{{
		Object:      Object{APIVersion: "v1", Kind: "Pod", Namespace: "default", Name: "pod-3", UID: id(3)},
		Terminating: &Moment{3, began}, Removed: &Moment{13, began.Add(time.Second)},
		Finalizers: []string{"a/b", "c/d"}, LastFinalizers: []string{"c/d"},
		Asked: &Request{User: "alice", Verb: "delete", Policy: "Foreground",
			URI: "/api/v1/namespaces/default/pods/pod-3"},
		Finished: &Request{User: "bob", Verb: "patch", URI: "/api/v1/namespaces/default/pods/pod-3"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}

// TestWhoBeganDeletionDidNotFinishIt: the request that began a deletion isn't recorded as the one that finished it.
func TestWhoBeganDeletionDidNotFinishIt(t *testing.T) {
	tr := New(began)
	s := &Subject{Type: pods, Namespace: "default", Name: "a", UID: id(1), Terminating: true}
	tr.Removed(s, 5, began, nil, NewRequest(Sent{User: "bob"}))
	r := tr.Find(Query{UID: id(1)}, all)[0]
	if r.Asked != nil || r.Finished == nil || r.Finished.User != "bob" || r.Elsewhere {
		t.Errorf("%+v", r)
	}
}

// TestDeletionMayFinishBeforeItsBeginIsRecorded: a controller may finish a deletion before the request that began it is
// recorded.
func TestDeletionMayFinishBeforeItsBeginIsRecorded(t *testing.T) {
	tr := New(began)
	s := &Subject{Type: pods, Namespace: "default", Name: "a", UID: id(1), Terminating: true}
	tr.Removed(s, 5, began, nil, NewRequest(Sent{User: "bob"}))
	tr.Marked(s, 4, began, []string{"a/b"}, NewRequest(Sent{User: "alice"}))
	found := tr.Find(Query{Name: "a"}, all)
	if len(found) != 1 || found[0].Asked == nil || found[0].Asked.User != "alice" || found[0].Finished.User != "bob" ||
		found[0].Terminating.Revision != 4 {
		t.Errorf("%+v", found[0])
	}
	tr.removed.empty(t)
}

// TestRemovalByOtherServerHasNoRequest: a removal that another server made has no request, whichever comes first: its
// event, or the answer of the store.
func TestRemovalByOtherServerHasNoRequest(t *testing.T) {
	tr := New(began)
	s := &Subject{Type: pods, Namespace: "default", Name: "a", UID: id(1)}
	tr.Seen(s, 5, began)
	if r := tr.Find(Query{UID: id(1)}, all)[0]; r.Asked != nil || r.Finished != nil || !r.Elsewhere {
		t.Errorf("seen only: %+v", r)
	}
	tr.Removed(s, 5, began, nil, NewRequest(Sent{User: "alice"}))
	tr.Seen(s, 5, began)
	found := tr.Find(Query{UID: id(1)}, all)
	if len(found) != 1 || found[0].Asked == nil || found[0].Asked.User != "alice" || found[0].Elsewhere {
		t.Errorf("removed by this server: %+v", found[0])
	}
	if a := tr.Answer(); a.Kept != 1 {
		t.Errorf("%d removals of one object", a.Kept)
	}
}

// TestOwnersAreFollowedToRequestOfUser: owners are followed up to the request of a user; what the user may not see is
// left out.
func TestOwnersAreFollowedToRequestOfUser(t *testing.T) {
	tr := New(began)
	object := func(k Type, name string, n int) Object {
		return Object{APIVersion: k.apiVersion(), Kind: k.Kind, Name: name, UID: id(n)}
	}
	gc := func(reason Reason, owners ...Object) *Request {
		return NewRequest(Sent{User: controllers + "generic-garbage-collector", Own: true, Verb: "delete",
			Reason: reason, Owners: owners, Policy: "Background"})
	}
	tr.Removed(&Subject{Type: apps, Namespace: "a", Name: "web", UID: id(1)}, 10, began, nil,
		NewRequest(Sent{User: "alice", Verb: "delete"}))
	tr.Removed(&Subject{Type: sets, Namespace: "a", Name: "web-1", UID: id(2)}, 11, began, nil,
		gc(OwnerDeleted, object(apps, "web", 1), object(apps, "web", 1)))
	tr.Removed(&Subject{Type: pods, Namespace: "a", Name: "web-1-1", UID: id(3)}, 12, began, nil,
		gc(OwnerDeleted, object(sets, "web-1", 2), object(sets, "gone", 9)))
	r := tr.Find(Query{Kind: "Pods", Namespace: "a"}, all)[0]
	owners := r.Asked.Owners
	if r.Asked.Controller != "generic-garbage-collector" || len(owners) != 2 || owners[1].Trail != nil {
		t.Fatalf("%+v", r.Asked)
	}
	set := owners[0].Trail
	if set == nil || set.Asked.Owners[0].Trail == nil || !set.Asked.Owners[1].Repeated {
		t.Fatalf("%+v", owners[0])
	}
	if user := set.Asked.Owners[0].Trail.Asked.User; user != "alice" {
		t.Errorf("the deployment was deleted by %s", user)
	}
	may := func(k Type, _ string) string {
		if k == apps {
			return "no"
		}
		return ""
	}
	r = tr.Find(Query{UID: id(3)}, may)[0]
	if top := r.Asked.Owners[0].Trail.Asked.Owners[0]; top.Trail != nil || top.Hidden != "no" {
		t.Errorf("%+v", top)
	}
	if got := tr.Find(Query{Kind: "deployment"}, may); got != nil {
		t.Errorf("hidden: %v", names(got))
	}
	if got := tr.Find(Query{Kind: "deployment", Group: new("batch")}, all); got != nil {
		t.Errorf("of another group: %v", names(got))
	}
}

// TestObjectThatIsNotTheOwnerHasNoTrail: the removal of an object with the owner's uid, but of another kind, name or
// namespace, is not the cause.
func TestObjectThatIsNotTheOwnerHasNoTrail(t *testing.T) {
	tr := New(began)
	remove(tr, 1, nil)
	for _, o := range []struct{ kind, name, namespace string }{
		{"Pod", "pod-1", "default"}, {"Secret", "pod-1", "default"}, {"Pod", "x", "default"}, {"Pod", "pod-1", "other"},
	} {
		owner := Object{APIVersion: "v1", Kind: o.kind, Name: o.name, UID: id(1)}
		tr.Removed(&Subject{Type: pods, Namespace: o.namespace, Name: "a", UID: id(2)}, 5, began, nil,
			NewRequest(Sent{Own: true, Reason: OwnerAbsent, Owners: []Object{owner}}))
		got := tr.Find(Query{UID: id(2)}, all)[0].Asked.Owners[0].Trail
		if (got != nil) != (o.kind == "Pod" && o.name == "pod-1" && o.namespace == "default") {
			t.Errorf("%+v: the trail %+v", o, got)
		}
	}
}

// TestCycleOfOwnersHasAnEnd: the trail of objects that own each other ends.
func TestCycleOfOwnersHasAnEnd(t *testing.T) {
	tr := New(began)
	for n := 1; n <= 2; n++ {
		owner := Object{Kind: "Pod", Name: fmt.Sprint("pod-", 3-n), UID: id(3 - n)}
		by := NewRequest(Sent{Own: true, Reason: OwnerAbsent, Owners: []Object{owner}})
		remove(tr, n, by)
	}
	r := tr.Find(Query{UID: id(1)}, all)[0]
	if !r.Asked.Owners[0].Trail.Asked.Owners[0].Repeated {
		t.Errorf("%+v", r)
	}
}

// TestChainOfOwnersHasAtMostMostLevels: deeper answers can't be decoded.
func TestChainOfOwnersHasAtMostMostLevels(t *testing.T) {
	tr, levels := New(began), 0
	for n := range 2 * mostLevels {
		owner := Object{Kind: "Pod", Name: fmt.Sprint("pod-", n-1), UID: id(n - 1)}
		remove(tr, n, NewRequest(Sent{Own: true, Reason: OwnerAbsent, Owners: []Object{owner}}))
	}
	owner := Owner{Trail: tr.Find(Query{UID: id(2*mostLevels - 1)}, all)[0]}
	for ; owner.Trail != nil; levels++ {
		owner = owner.Trail.Asked.Owners[0]
	}
	if levels != mostLevels+1 || owner.Hidden == "" {
		t.Errorf("%d levels, then %+v", levels, owner)
	}
}

// TestObjectsAreFoundByNamespaceAndGroup: cluster-scoped ones in any namespace, and the group with the version, too.
func TestObjectsAreFoundByNamespaceAndGroup(t *testing.T) {
	tr := New(began)
	tr.Removed(&Subject{Type: apps, Namespace: "a", Name: "web", UID: id(1)}, 1, began, nil, nil)
	tr.Removed(&Subject{Type: pods, Name: "p", UID: id(2)}, 2, began, nil, nil)
	for _, c := range []struct{ namespace, group, want string }{
		{"a", "apps", "web"}, {"a", "v1.apps", "web"}, {"b", "apps", ""}, {"a", "v2.apps", ""}, {"b", "", "p"}, {"b", "v1.", "p"},
	} {
		if got := strings.Join(names(tr.Find(Query{Namespace: c.namespace, Group: &c.group}, all)), " "); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestEveryUIDIsFound: every uid is found, a long one by the part of it that is kept.
func TestEveryUIDIsFound(t *testing.T) {
	for _, uid := range []string{"", "01234567-89ab-cdef-0123-456789abcdef", "x", strings.Repeat("x", 2*mostString)} {
		tr := New(began)
		by := NewRequest(Sent{User: "alice", AuditID: uid})
		tr.Removed(&Subject{Type: pods, Name: "a", UID: uid}, 1, began, nil, by)
		r := tr.Find(Query{Name: "a"}, all)[0]
		if r.Object.UID != cut(uid) || r.Object.Name != "a" || r.Asked.AuditID != cut(uid) ||
			r.Asked.URI != "/api/v1/pods/a" {
			t.Errorf("%+v %+v", r, r.Asked)
		}
		if got := tr.Find(Query{UID: uid}, all); len(got) != 1 {
			t.Errorf("%q is not found by its uid", uid)
		}
	}
}

// TestAnswerIsACopy: an answer is the caller's, and the trails of owners in it are not kept.
func TestAnswerIsACopy(t *testing.T) {
	tr := New(began)
	remove(tr, 1, nil)
	owners := []Object{{Kind: "Pod", Name: "pod-1", UID: id(1)}}
	shared := NewRequest(Sent{User: "alice", Own: true, Reason: OwnerDeleted, Owners: owners})
	remove(tr, 2, shared)
	remove(tr, 3, shared)
	for n := 2; n <= 3; n++ {
		r := tr.Find(Query{UID: id(n)}, all)[0]
		if r.Asked.Owners[0].Trail == nil || r.Asked.URI != fmt.Sprint("/api/v1/namespaces/default/pods/pod-", n) {
			t.Errorf("%+v", r.Asked)
		}
	}
	if shared.Owners[0].Trail != nil || shared.URI != "" {
		t.Errorf("the shared request was changed: %+v", shared)
	}
}

// TestRollbackForgetsRemovals: nothing is known after a rollback.
func TestRollbackForgetsRemovals(t *testing.T) {
	tr := New(began)
	remove(tr, 1, nil)
	tr.Marked(&Subject{Type: pods, UID: id(2)}, 2, began, nil, nil)
	tr.Reset(began.Add(time.Hour))
	if a := tr.Answer(); a.Kept != 0 || a.Removals != 0 || !a.Since.Equal(began.Add(time.Hour)) || a.Limit != Removals {
		t.Errorf("%+v", a)
	}
	if got := tr.Find(Query{}, all); got != nil || !tr.RemovedAt(id(1)).IsZero() {
		t.Errorf("%v", names(got))
	}
}
