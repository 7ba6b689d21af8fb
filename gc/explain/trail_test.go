package explain

import (
	"strings"
	"testing"
	"time"

	"github.com/kubecascade/kubecascade/gc/trail"
)

// TestTrailBeginsWithTheAnswer: the first line is the answer, and the tree has the chain.
func TestTrailBeginsWithTheAnswer(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(revision int64) *trail.Moment {
		return &trail.Moment{Revision: revision, Time: now.Add(-time.Minute)}
	}
	object := func(kind, name string) trail.Object {
		return trail.Object{APIVersion: "v1", Kind: kind, Namespace: "a", Name: name}
	}
	gc := func(reason trail.Reason, owners ...trail.Owner) *trail.Request {
		return &trail.Request{User: "x", Controller: "generic-garbage-collector", Verb: "delete", Policy: "Background",
			Reason: reason, Owners: owners}
	}
	alice := &trail.Request{User: "alice", Verb: "delete", URI: "/x", UserAgent: "kubectl", AuditID: "1"}
	top := &trail.Removal{Object: object("ConfigMap", "top"), Removed: at(5), Asked: alice}
	for name, c := range map[string]struct {
		removal *trail.Removal
		want    string
	}{
		"chain": {
			&trail.Removal{Object: object("ConfigMap", "leaf"), Removed: at(6), Asked: gc(trail.OwnerDeleted,
				trail.Owner{Object: object("ConfigMap", "top"), Trail: top}, trail.Owner{Object: object("Secret", "s"), Hidden: "no"},
				trail.Owner{Object: object("Secret", "r")}, trail.Owner{Object: object("Secret", "q"), Repeated: true})},
			`a/configmap/leaf was removed at revision 6, 1m ago: user alice deleted a/configmap/top
└─ the garbage collector deleted it, propagationPolicy Background, as its owners are gone
   ├─ a/configmap/top was removed at revision 5, 1m ago
   │  └─ user alice deleted it (/x; user agent kubectl; audit ID 1)
   ├─ a/secret/s: not shown: no
   ├─ a/secret/r: nothing is known of a removal
   └─ a/secret/q (shown above)`,
		},
		"finalizers": {
			&trail.Removal{Object: object("ConfigMap", "f"), Removed: at(9), Terminating: &trail.Moment{Revision: 7,
				Time: now.Add(-3 * time.Minute)}, Asked: alice, Finalizers: []string{"a/b", "c/d"}, LastFinalizers: []string{"c/d"},
				Finished: &trail.Request{User: "bob", Verb: "patch", URI: "/y"}},
			`a/configmap/f was removed at revision 9, 1m ago: user alice deleted it
├─ user alice deleted it (/x; user agent kubectl; audit ID 1)
├─ it was terminating from revision 7, for 2m, held by finalizers a/b, c/d
└─ user bob removed the last finalizer c/d (/y)`,
		},
		"terminating": {
			&trail.Removal{Object: object("ConfigMap", "f"), Terminating: at(7), Asked: alice, Finalizers: []string{"a/b"}},
			`a/configmap/f is being deleted: user alice deleted it
├─ user alice deleted it (/x; user agent kubectl; audit ID 1)
└─ it was terminating from revision 7 on, for 1m, held by finalizers a/b`,
		},
		"elsewhere": {
			&trail.Removal{Object: object("ConfigMap", "e"), Removed: at(7), Elsewhere: true},
			`a/configmap/e was removed at revision 7, 1m ago: another server over the same etcd removed it
└─ the request was made at another server over the same etcd`,
		},
		"forgotten": {
			&trail.Removal{Object: object("ConfigMap", "e"), Removed: at(7), LastFinalizers: []string{"a/b"},
				Finished: &trail.Request{User: "bob", Verb: "update", URI: "/y"}},
			`a/configmap/e was removed at revision 7, 1m ago: who deleted it is not known
├─ the deletion began before this server started, or at another server over the same etcd, or too long ago: ` +
				`who requested it is not known
└─ user bob removed the last finalizer a/b (/y)`,
		},
		"controller": {
			&trail.Removal{Object: object("Pod", "p"), Removed: at(7), Asked: &trail.Request{User: "x", Verb: "delete",
				Controller: "replicaset-controller", Reason: trail.ControllerDecision,
				Owners: []trail.Owner{{Object: object("ReplicaSet", "r")}}}},
			`a/pod/p was removed at revision 7, 1m ago: the replicaset controller deleted it: more pods than replicas
└─ the replicaset controller deleted it: more pods than replicas`,
		},
		"eviction": {
			&trail.Removal{Object: object("Pod", "p"), Removed: at(7), Asked: &trail.Request{User: "alice", Verb: "create",
				URI: "/api/v1/namespaces/a/pods/p/eviction"}},
			`a/pod/p was removed at revision 7, 1m ago: user alice evicted it
└─ user alice evicted it (/api/v1/namespaces/a/pods/p/eviction)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := TrailText(&trail.Answer{Items: []*trail.Removal{c.removal}}, Style{Now: now})
			if strings.TrimSpace(got) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestFirstLineNamesTheOriginOfAnOwnerThatIsShownAbove: the owners may also be a cycle.
func TestFirstLineNamesTheOriginOfAnOwnerThatIsShownAbove(t *testing.T) {
	pod := func(name string) trail.Object {
		return trail.Object{APIVersion: "v1", Kind: "Pod", Name: name, UID: name}
	}
	by := func(owner trail.Owner) *trail.Request {
		return &trail.Request{Verb: "delete", Controller: "x", Reason: trail.OwnerDeleted, Owners: []trail.Owner{owner}}
	}
	removal := func(name string, asked *trail.Request) *trail.Removal {
		return &trail.Removal{Object: pod(name), Asked: asked}
	}
	above := func(name string) *trail.Request { return by(trail.Owner{Object: pod(name), Repeated: true}) }
	owner := removal("owner", &trail.Request{User: "alice", Verb: "delete"})
	a := &trail.Answer{Items: []*trail.Removal{
		removal("one", by(trail.Owner{Object: pod("owner"), Trail: owner})), removal("two", above("owner")),
		removal("self", above("self")), removal("three", above("self")),
	}}
	got := TrailText(a, Style{})
	for _, want := range []string{
		"pod/one is being deleted: user alice deleted pod/owner\n", "pod/two is being deleted: user alice deleted pod/owner\n",
		"pod/three is being deleted: the x controller deleted pod/self, as its owner pod/self is gone\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
